import type { Answer } from '../api/run.js';
import type { Json } from '../api/describe.js';
import { Bars, barsOf } from './bars.js';
import { Boxes, boxesOf } from './boxes.js';
import { DepthMap, depthOf } from './depth.js';
import { Layers, layersOf } from './layers.js';
import { Highlights, spansOf } from './highlights.js';
import { kindOf, Medium } from './medium.js';
import { Text, textOf } from './text.js';
import { Vector, vectorOf } from './vector.js';

/** The answer to a call, with the input that it is about. */
export interface Shown {
  answer: Answer;
  input: Readonly<Record<string, Json>>;
}

/** By the shape of the output, the first that fits; each says null for outputs that are not its own. */
const VIEWS = [
  view(boxesOf, Boxes),
  view(layersOf, Layers),
  view(depthOf, DepthMap),
  view(spansOf, Highlights),
  view(barsOf, Bars),
  view(vectorOf, Vector),
  view(textOf, Text),
];

function view<Read>(
  read: (shown: Shown) => Read | null,
  Component: (props: { read: Read; shown: Shown }) => preact.JSX.Element,
) {
  return (shown: Shown) => {
    const found = read(shown);
    return found === null ? null : <Component read={found} shown={shown} />;
  };
}

/** An answer as people want to see it; as JSON where nothing else fits. */
export function Result(shown: Shown) {
  const { output, medium } = shown.answer;
  const kind = kindOf(medium?.type ?? mediaTypeOf(output));
  if (kind) return <Medium kind={kind} source={medium ?? (output as string)} />;
  for (const make of VIEWS) {
    const made = make(shown);
    if (made) return made;
  }
  return <pre class="json">{JSON.stringify(output, null, 1)}</pre>;
}

/** Of a data URL. */
const mediaTypeOf = (output: unknown): string =>
  typeof output === 'string' ? (/^data:([\w/+.-]+)[;,]/.exec(output)?.[1] ?? '') : '';
