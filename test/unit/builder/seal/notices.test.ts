import { layeredNotices } from '../../../../builder/seal/notices.js';

test('an adapter’s card stands in place of its base’s; the base’s licence is the image’s, too', () => {
  const listed = (size: number, ...paths: string[]) => paths.map((path) => ({ path, size }));
  const own = listed(1, 'README.md', 'adapter_model.safetensors');
  const below = listed(2, 'LICENSE', 'README.md', 'config.json');
  expect(layeredNotices(own, below, { files: ['LICENSE', 'config.json'] })).toEqual([
    { path: 'README.md', size: 1 },
    { path: 'LICENSE', size: 2 },
  ]);
});
