import { CONVERT_REMEDY, DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from '../errors.js';
import { pause } from '../read-ranges.js';
import { callGlobal, isKnownGlobal, storageOf } from './globals.js';
import { opcodeName, OPCODES } from './opcodes.js';
import { PickleBytes, PickleEnd } from './pickle-bytes.js';
import { Dict, Global, kindOf, Tuple, type Value } from './values.js';

/** Longest pickle that is read: some 100,000 tensors in one file. */
export const MAX_PICKLE_BYTES = 16 * 2 ** 20;
const MAX_STACK = 100_000;
const MAX_MEMO = 2_000_000;
/** Operations between two turns of the event loop. */
const TURN = 8192;

/**
 * The value of a pickle, as far as it is a state dict: dicts, tuples, texts, numbers, tensors. Executes nothing; whatever
 * state dicts don't consist of is refused by name.
 * @param path for messages
 * @throws WeightsError
 */
export async function unpickle(path: string, bytes: Buffer): Promise<Value> {
  if (bytes.length > MAX_PICKLE_BYTES)
    throw limit(path, `an index of ${bytes.length} bytes, beyond ${MAX_PICKLE_BYTES}`);
  const pickle = new PickleBytes(bytes);
  try {
    const value = await unpickleNext(path, pickle);
    if (pickle.atEnd) return value;
    throw damaged(path, 'does not end as it should');
  } catch (error) {
    throw error instanceof PickleEnd ? damaged(path, 'ends in the middle') : error;
  }
}

/**
 * As unpickle, for the next of several pickles.
 * @throws PickleEnd where the bytes end before it
 */
export async function unpickleNext(path: string, pickle: PickleBytes): Promise<Value> {
  const machine = new Machine(path, pickle);
  for (let steps = 1; machine.step(); steps++) if (steps % TURN === 0) await pause();
  return machine.result();
}

class Machine {
  private stack: Value[] = [];
  /** Heights of the stack. */
  private readonly marks: number[] = [];
  private readonly memo = new Map<number, Value>();

  constructor(
    private readonly path: string,
    private readonly bytes: PickleBytes,
  ) {}

  /** @returns false at the end of the pickle */
  step(): boolean {
    const opcode = this.bytes.byte();
    const run = STEPS[opcode];
    if (run) run(this, this.bytes);
    else if (opcode !== OPCODES.STOP) throw this.unknownOpcode(opcode);
    if (this.stack.length > MAX_STACK || this.marks.length > MAX_STACK)
      throw limit(this.path, 'too many values at once');
    return opcode !== OPCODES.STOP;
  }

  result(): Value {
    if (this.stack.length !== 1 || this.marks.length > 0) throw this.damaged('does not end as it should');
    return this.stack[0]!;
  }

  push(value: Value): void {
    this.stack.push(value);
  }

  pop(): Value {
    // What lies below a mark belongs to whoever set it.
    if (this.stack.length <= (this.marks.at(-1) ?? 0)) throw this.damaged('takes a value that is not there');
    return this.stack.pop()!;
  }

  mark(): void {
    this.marks.push(this.stack.length);
  }

  /** The values since the last mark. */
  popMark(): Value[] {
    const mark = this.marks.pop();
    if (mark === undefined) throw this.damaged('takes a mark that is not there');
    return this.stack.splice(mark);
  }

  popTuple(length: number): void {
    const items: Value[] = [];
    for (let i = 0; i < length; i++) items.unshift(this.pop());
    this.push(new Tuple(items));
  }

  remember(key = this.memo.size): void {
    const value = this.pop();
    this.push(value);
    this.memo.set(key, value);
    if (this.memo.size > MAX_MEMO) throw limit(this.path, 'too many values');
  }

  recall(key: number): void {
    const value = this.memo.get(key);
    if (value === undefined) throw this.damaged('recalls a value that it never had');
    this.push(value);
  }

  setItems(items: readonly Value[]): void {
    const dict = this.pop();
    if (!(dict instanceof Dict) || items.length % 2 !== 0)
      throw this.damaged(`sets items of ${kindOf(dict)}`);
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i]!;
      if (typeof key !== 'string') throw notStateDict(this.path, `has ${kindOf(key)} as a name`);
      if (!dict.set(key, items[i + 1]!)) throw this.failure('duplicate-name', `names ${quoted(key)} twice`);
    }
    this.push(dict);
  }

  /** Attributes of an OrderedDict, which torch gives its state dicts: dropped. */
  build(): void {
    const state = this.pop();
    const target = this.pop();
    if (!(target instanceof Dict && state instanceof Dict))
      throw this.damaged(`sets attributes of ${kindOf(target)}`);
    this.push(target);
  }

  pushGlobal(module: Value, name: Value): void {
    const full = `${String(module)} ${String(name)}`;
    if (typeof module !== 'string' || typeof name !== 'string')
      throw this.damaged('names a class by no text');
    if (!isKnownGlobal(full)) throw unknownGlobal(this.path, `${module}.${name}`);
    this.push(new Global(full));
  }

  pushStorage(): void {
    const id = this.pop();
    const storage = storageOf(id);
    if (!storage) throw this.damaged(`refers to ${kindOf(id)} as a storage`);
    this.push(storage);
  }

  reduce(): void {
    const args = this.pop();
    const callee = this.pop();
    const made = callee instanceof Global && args instanceof Tuple ? callGlobal(callee, args) : undefined;
    if (made === undefined) throw unknownCall(this.path, kindOf(callee));
    this.push(made);
  }

  private unknownOpcode(opcode: number): WeightsError {
    return new WeightsError(this.path, {
      code: 'pickle-opcode',
      what: `holds more than tensors: its index uses the pickle opcode ${opcodeName(opcode)}, which state dicts don't have and which is not executed`,
      remedy: CONVERT_REMEDY,
    });
  }

  private damaged(what: string): WeightsError {
    return damaged(this.path, what);
  }

  private failure(code: WeightsErrorCode, what: string): WeightsError {
    return new WeightsError(this.path, { code, what: `has an index that ${what}`, remedy: DAMAGED_REMEDY });
  }
}

/** What each opcode does. Source: the comments of CPython's pickletools. */
const STEPS: Readonly<Record<number, (machine: Machine, bytes: PickleBytes) => void>> = {
  [OPCODES.PROTO]: (_, bytes) => void bytes.byte(),
  [OPCODES.FRAME]: (_, bytes) => void bytes.unsigned(8),
  [OPCODES.MARK]: (machine) => machine.mark(),
  [OPCODES.NONE]: (machine) => machine.push(null),
  [OPCODES.NEWTRUE]: (machine) => machine.push(true),
  [OPCODES.NEWFALSE]: (machine) => machine.push(false),
  [OPCODES.BININT]: (machine, bytes) => machine.push(bytes.signed(4)),
  [OPCODES.BININT1]: (machine, bytes) => machine.push(bytes.unsigned(1)),
  [OPCODES.BININT2]: (machine, bytes) => machine.push(bytes.unsigned(2)),
  [OPCODES.LONG1]: (machine, bytes) => machine.push(bytes.signed(bytes.byte())),
  [OPCODES.BINUNICODE]: (machine, bytes) => machine.push(bytes.text(bytes.unsigned(4))),
  [OPCODES.SHORT_BINUNICODE]: (machine, bytes) => machine.push(bytes.text(bytes.byte())),
  [OPCODES.EMPTY_DICT]: (machine) => machine.push(new Dict()),
  [OPCODES.EMPTY_TUPLE]: (machine) => machine.popTuple(0),
  [OPCODES.TUPLE1]: (machine) => machine.popTuple(1),
  [OPCODES.TUPLE2]: (machine) => machine.popTuple(2),
  [OPCODES.TUPLE3]: (machine) => machine.popTuple(3),
  [OPCODES.TUPLE]: (machine) => machine.push(new Tuple(machine.popMark())),
  [OPCODES.BINPUT]: (machine, bytes) => machine.remember(bytes.byte()),
  [OPCODES.LONG_BINPUT]: (machine, bytes) => machine.remember(bytes.unsigned(4)),
  [OPCODES.MEMOIZE]: (machine) => machine.remember(),
  [OPCODES.BINGET]: (machine, bytes) => machine.recall(bytes.byte()),
  [OPCODES.LONG_BINGET]: (machine, bytes) => machine.recall(bytes.unsigned(4)),
  [OPCODES.GLOBAL]: (machine, bytes) => machine.pushGlobal(bytes.line(), bytes.line()),
  [OPCODES.STACK_GLOBAL]: (machine) => {
    const name = machine.pop();
    machine.pushGlobal(machine.pop(), name);
  },
  [OPCODES.BINPERSID]: (machine) => machine.pushStorage(),
  [OPCODES.REDUCE]: (machine) => machine.reduce(),
  [OPCODES.BUILD]: (machine) => machine.build(),
  [OPCODES.SETITEM]: (machine) => {
    const value = machine.pop();
    machine.setItems([machine.pop(), value]);
  },
  [OPCODES.SETITEMS]: (machine) => machine.setItems(machine.popMark()),
};

function unknownGlobal(path: string, name: string): WeightsError {
  return new WeightsError(path, {
    code: 'pickle-global',
    what: `holds more than tensors: its index names ${quoted(name)}, which is not executed`,
    remedy: CONVERT_REMEDY,
  });
}

function unknownCall(path: string, name: string): WeightsError {
  return new WeightsError(path, {
    code: 'pickle-global',
    what: `calls ${name} in its index in a way that torch does not for plain tensors`,
    remedy: CONVERT_REMEDY,
  });
}

/** A pickle that is not a flat dict of tensors. */
export function notStateDict(path: string, what: string): WeightsError {
  return new WeightsError(path, { code: 'not-a-state-dict', what, remedy: CONVERT_REMEDY });
}

function damaged(path: string, what: string): WeightsError {
  return new WeightsError(path, {
    code: 'pickle-damaged',
    what: `has an index that ${what}`,
    remedy: DAMAGED_REMEDY,
  });
}

function limit(path: string, what: string): WeightsError {
  return new WeightsError(path, { code: 'pickle-limit', what: `has ${what}`, remedy: CONVERT_REMEDY });
}
