import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export interface Size {
  width: number;
  height: number;
}

/**
 * The image of a call with something drawn over it, in pixels of the image. One that was given by its address is not here:
 * the page asks no other server. Then `over` is drawn on an empty ground of `size`, where that is known.
 */
export function ImageView({
  source,
  size,
  over,
}: {
  source: unknown;
  size?: Size;
  over(size: Size): ComponentChildren;
}) {
  const [loaded, setLoaded] = useState<Size>();
  const known = loaded ?? size;
  return (
    <div class="picture">
      {typeof source === 'string' ? (
        <img
          src={source}
          alt="what was asked about"
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setLoaded({ width, height })
          }
        />
      ) : (
        <p class="note">The image was given by its address; this page shows only files.</p>
      )}
      {known && over(known)}
    </div>
  );
}
