import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unreadFields } from '../../../../builder/plan/config/unread-fields.js';
import { normalizeConfig } from '../../../../runtime/hub-config/normalize.js';

/**
 * Fields of configurations as repositories on the hub have them, the unusual ones above all: what tools of training left,
 * names that classes have given up, what older tools wrote of every default, and settings that change nothing.
 */
const CONFIGS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../fixtures/hub-configs.json'), 'utf8'),
) as Record<string, Record<string, unknown>>;

describe('configurations as repositories on the hub have them say nothing that is refused', () => {
  test.each(Object.entries(CONFIGS))('%s', (_, config) => {
    expect(unreadFields(normalizeConfig(config), String(config['model_type']))).toEqual([]);
  });

  test('a dictionary that says something else than its part is refused', () => {
    const config = {
      model_type: 'clip',
      text_config: { num_hidden_layers: 2 },
      text_config_dict: { num_hidden_layers: 3 },
    };
    expect(unreadFields(config, 'clip')).toMatchObject([
      { path: 'text_config_dict.num_hidden_layers', value: 3 },
    ]);
  });
});
