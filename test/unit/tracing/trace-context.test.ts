import { childOf, readTraceContext, traceHeaders } from '../../../runtime/tracing/trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('the caller’s span is read, and written as it was', () => {
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' };
  const context = readTraceContext(headers)!;
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true, state: 'vendor=1' });
  expect(traceHeaders(context)).toEqual(headers);
});

test('of later versions what is known is read, and only the bit for sampling counts', () => {
  expect(readTraceContext({ traceparent: `cc-${TRACE}-${SPAN}-08-more` })).toMatchObject({
    isSampled: false,
  });
  expect(readTraceContext({ traceparent: `00-${TRACE}-${SPAN}-ff` })).toMatchObject({ isSampled: true });
});

test.each([
  ['none', undefined],
  ['an empty one', ''],
  ['a version that is none', `ff-${TRACE}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['more than version 0 has', `00-${TRACE}-${SPAN}-01-more`],
  ['line breaks', `00-${TRACE}-${SPAN}-01\r\nX: 1`],
  ['another shape', 'x'.repeat(10_000)],
])('%s is no trace', (_, traceparent) => {
  expect(readTraceContext(traceparent === undefined ? {} : { traceparent })).toBeUndefined();
});

test('a state that is too long is not passed on', () => {
  const headers = { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: 'a'.repeat(513) };
  expect(traceHeaders(readTraceContext(headers)!)).toEqual({ traceparent: headers.traceparent });
});

test('a child has an id of its own in the same trace', () => {
  const parent = readTraceContext({ traceparent: `00-${TRACE}-${SPAN}-01` })!;
  const child = childOf(parent);
  expect(child).toMatchObject({ traceId: TRACE, isSampled: true });
  expect(child.spanId).toMatch(/^(?!0{16})[\da-f]{16}$/);
  expect(child.spanId).not.toBe(SPAN);
});
