import { labelsOf } from '../../../../runtime/engines/repository/labels.js';

test('labels by id, filled up as in Python', () => {
  expect(labelsOf({ id2label: { 0: 'cat' } }, 2)).toEqual(['cat', 'LABEL_1']);
});

test('labels of timm: its own list, else those of ImageNet where there are as many', () => {
  const timm = { pretrained_cfg: {}, num_classes: 2 };
  expect(labelsOf({ ...timm, label_names: ['cat', 'dog'] }, 2)).toEqual(['cat', 'dog']);
  expect(labelsOf(timm, 2)).toEqual(['LABEL_0', 'LABEL_1']);
  const all = labelsOf({ ...timm, num_classes: 1000 }, 1000);
  expect([all[0], all[999], new Set(all).size]).toEqual([
    'tench, Tinca tinca',
    'toilet tissue, toilet paper, bathroom tissue',
    expect.any(Number),
  ]);
  expect(labelsOf({ num_classes: 1000 }, 1)).toEqual(['LABEL_0']);
});
