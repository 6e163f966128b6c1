/** Values that the pickle of a state dict is made of. */
export type Value = string | number | boolean | null | Tuple | Dict | Global | Storage | Tensor;

export class Tuple {
  constructor(readonly items: readonly Value[]) {}
}

/** A dict or OrderedDict, by names. Attributes of an OrderedDict (`_metadata`) are dropped. */
export class Dict {
  private map?: Map<string, Value>;

  get entries(): ReadonlyMap<string, Value> {
    return this.map ?? new Map<string, Value>();
  }

  /** @returns false if it has the name already */
  set(name: string, value: Value): boolean {
    this.map ??= new Map();
    if (this.map.has(name)) return false;
    this.map.set(name, value);
    return true;
  }
}

/** A class or function by its name, such as `torch FloatStorage`. Never called. */
export class Global {
  constructor(readonly name: string) {}
}

/** The bytes that tensors share: an entry `data/<key>` of the archive. */
export class Storage {
  constructor(
    readonly key: string,
    /** Of its elements; undefined if they are bytes without a type. */
    readonly type: string | undefined,
    /** Number of elements. */
    readonly count: number,
  ) {}
}

/** A view into a storage. */
export class Tensor {
  constructor(
    readonly storage: Storage,
    readonly type: string,
    readonly view: View,
  ) {}
}

/** What a tensor is of its storage; offset and strides in elements. */
export interface View {
  offset: number;
  shape: readonly number[];
  strides: readonly number[];
}

/** What kind of value this is, for messages. */
export function kindOf(value: Value | undefined): string {
  if (value === null) return 'None';
  if (value instanceof Tuple) return 'a tuple';
  if (value instanceof Dict) return 'a dict';
  if (value instanceof Global) return value.name.replace(' ', '.');
  if (value instanceof Storage) return 'a storage';
  if (value instanceof Tensor) return 'a tensor';
  return { string: 'a text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'nothing';
}
