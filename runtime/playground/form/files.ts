/** A file as a data URL. @throws when the browser can't read it */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file can’t be read')));
    reader.readAsDataURL(file);
  });
}
