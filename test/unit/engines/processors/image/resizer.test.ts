import { createFittingProcessor } from '../../../../../runtime/engines/processors/image/got-ocr2.js';
import { resizerOf } from '../../../../../runtime/engines/processors/image/resizer.js';

const TILE = { size: { height: 8, width: 8 } };

test.each([0, 1, 4, 5, 'bicubic'])(
  'classes that resize tensors refuse the filter %j, which PyTorch lacks or computes otherwise than Pillow',
  (resample) => {
    const refusal = expect.objectContaining({ code: 'not_ready' });
    const named = { ...TILE, image_processor_type: 'GotOcr2ImageProcessorFast', resample };
    expect(() => createFittingProcessor({ ...TILE, resample })).toThrow(refusal);
    expect(() => resizerOf(named)).toThrow(refusal);
    expect(() => resizerOf({ ...named, image_processor_type: 'GotOcr2ImageProcessor' })).not.toThrow();
  },
);
