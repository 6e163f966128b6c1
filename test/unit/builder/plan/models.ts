import { planModel, type PlanRequest } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { folderWith } from '../../store/folders.js';

/** The smallest model that gets a plan. */
export const files = {
  'config.json': '{"architectures":["BertForSequenceClassification"],"model_type":"bert"}',
  'tokenizer.json': '{}',
  'onnx/model.onnx': graphReferring(),
};

/** A graph of one initializer, whose weights lie in the named file. */
export function graphReferring(location?: string): Buffer {
  const field = (number: number, content: Buffer | string) =>
    Buffer.concat([Buffer.from([number * 8 + 2, content.length]), Buffer.from(content as string)]);
  const entry = location
    ? field(13, Buffer.concat([field(1, 'location'), field(2, location)]))
    : Buffer.alloc(0);
  return field(7, field(5, entry));
}

/** Plans the files of a folder, tagged as given. */
export function plan(content: Record<string, string | Uint8Array>, request: Partial<PlanRequest> = {}) {
  return planModel({ source: folderSource(folderWith(content)), id: 'org/m', ...request });
}
