import { interruptible } from '../../../builder/interrupt.js';

describe('interruptible', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops the work, which then counts as interrupted',
    async (signal) => {
      for (const end of ['well', 'badly']) {
        let stop = () => undefined as void;
        const stopped = new Promise<void>((resolve) => (stop = resolve));
        const work = interruptible(
          async () => stop(),
          async () => {
            process.emit(signal, signal);
            await stopped;
            if (end === 'badly') throw new Error('gone');
          },
        );
        await expect(work).rejects.toMatchObject({ exit: 'interrupted', message: `stopped by ${signal}` });
      }
    },
  );

  test('without a signal it is the work, and listens no longer', async () => {
    const listeners = process.listenerCount('SIGINT');
    const stop = () => Promise.reject(new Error('not called'));
    await expect(interruptible(stop, async () => 7)).resolves.toBe(7);
    await expect(interruptible(stop, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
    expect(process.listenerCount('SIGINT')).toBe(listeners);
  });
});
