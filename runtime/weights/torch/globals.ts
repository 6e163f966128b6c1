import { Dict, Global, Storage, Tensor, Tuple, type Value } from './values.js';

/** Types of torch's storages, as safetensors names them. */
const STORAGES: ReadonlyMap<string, string | undefined> = new Map([
  ['torch DoubleStorage', 'F64'],
  ['torch FloatStorage', 'F32'],
  ['torch HalfStorage', 'F16'],
  ['torch BFloat16Storage', 'BF16'],
  ['torch LongStorage', 'I64'],
  ['torch IntStorage', 'I32'],
  ['torch ShortStorage', 'I16'],
  ['torch CharStorage', 'I8'],
  ['torch ByteStorage', 'U8'],
  ['torch BoolStorage', 'BOOL'],
  ['torch ComplexFloatStorage', 'C64'],
  ['torch ComplexDoubleStorage', 'C128'],
  ['torch.storage UntypedStorage', undefined],
]);

/** Types of tensors over bytes without a type. */
const DTYPES: ReadonlyMap<string, string> = new Map([
  ['torch uint16', 'U16'],
  ['torch uint32', 'U32'],
  ['torch uint64', 'U64'],
  ['torch float8_e4m3fn', 'F8_E4M3'],
  ['torch float8_e5m2', 'F8_E5M2'],
  ['torch float8_e4m3fnuz', 'F8_E4M3FNUZ'],
  ['torch float8_e5m2fnuz', 'F8_E5M2FNUZ'],
  ['torch float8_e8m0fnu', 'F8_E8M0'],
]);

/** What a function of the list makes of its arguments; undefined if they are not those that torch writes. */
type Maker = (args: readonly Value[]) => Value | undefined;

const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['collections OrderedDict', (args) => (args.length === 0 ? new Dict() : undefined)],
  ['torch._utils _rebuild_tensor_v2', rebuildTensor],
  ['torch._utils _rebuild_tensor_v3', rebuildUntyped],
  ['torch._utils _rebuild_parameter', rebuildParameter],
]);

/** Whether state dicts may name it: everything else is refused. */
export function isKnownGlobal(name: string): boolean {
  return STORAGES.has(name) || DTYPES.has(name) || MAKERS.has(name);
}

/** What a call of a global makes; undefined if torch writes no such call. */
export function callGlobal({ name }: Global, { items }: Tuple): Value | undefined {
  return MAKERS.get(name)?.(items);
}

/** The storage that torch's persistent id names: ('storage', class, key, location, elements[, view, which is none any more]). */
export function storageOf(id: Value): Storage | undefined {
  if (!(id instanceof Tuple) || id.items.length < 5 || id.items.length > 6) return undefined;
  const [kind, storage, key, location, count, view = null] = id.items;
  if (view !== null) return undefined;
  if (kind !== 'storage' || !(storage instanceof Global) || !STORAGES.has(storage.name)) return undefined;
  if (typeof key !== 'string' || typeof location !== 'string' || !isCount(count)) return undefined;
  return new Storage(key, STORAGES.get(storage.name), count);
}

/** (storage, offset, size, stride, requires_grad, backward_hooks[, metadata]) */
function rebuildTensor(args: readonly Value[]): Tensor | undefined {
  const [storage] = args;
  if (!(storage instanceof Storage) || storage.type === undefined) return undefined;
  return tensorOf(storage.type, args, 6);
}

/** (storage, offset, size, stride, requires_grad, backward_hooks, dtype[, metadata]) */
function rebuildUntyped(args: readonly Value[]): Tensor | undefined {
  const dtype = args[6];
  const type = dtype instanceof Global ? DTYPES.get(dtype.name) : undefined;
  return type === undefined ? undefined : tensorOf(type, args, 7);
}

/** @param known number of arguments before the optional metadata */
function tensorOf(type: string, args: readonly Value[], known: number): Tensor | undefined {
  const [storage, offset, size, stride, , hooks, ...rest] = args;
  const shape = counts(size);
  const strides = counts(stride);
  if (!(storage instanceof Storage) || !isCount(offset) || !shape || strides?.length !== shape.length)
    return undefined;
  // Metadata says that the values are conjugated or negated, hooks that code belongs to the tensor.
  const metadata = args.length > known ? rest.at(-1) : null;
  if (args.length < known || args.length > known + 1 || !isEmpty(hooks) || !isEmpty(metadata))
    return undefined;
  return new Tensor(storage, type, { offset, shape, strides });
}

/** (tensor, requires_grad, backward_hooks) */
function rebuildParameter([tensor, , hooks, ...rest]: readonly Value[]): Tensor | undefined {
  return tensor instanceof Tensor && isEmpty(hooks) && rest.length === 0 ? tensor : undefined;
}

function isEmpty(value: Value | undefined): boolean {
  return value === null || (value instanceof Dict && value.entries.size === 0);
}

function counts(value: Value | undefined): readonly number[] | undefined {
  return value instanceof Tuple && value.items.every(isCount) ? value.items : undefined;
}

function isCount(value: Value | undefined): value is number {
  return typeof value === 'number' && value >= 0;
}
