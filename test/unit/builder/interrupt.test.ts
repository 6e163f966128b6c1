import { interruptible } from '../../../builder/interrupt.js';

describe('interruptible', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops the work, which then counts as interrupted',
    async (signal) => {
      for (const end of ['well', 'badly']) {
        let stop = () => undefined as void;
        const stopped = new Promise<void>((resolve) => (stop = resolve));
        const work = interruptible({ stop: () => stop(), note: 'call again' }, async () => {
          process.emit(signal, signal);
          await stopped;
          if (end === 'badly') throw new Error('gone');
        });
        await expect(work).rejects.toMatchObject({
          exit: 'interrupted',
          message: `stopped by ${signal}; call again`,
        });
      }
    },
  );

  test('nothing holds up a second signal', async () => {
    const listeners = process.listenerCount('SIGINT');
    let left: number | undefined;
    const work = interruptible({ stop: () => undefined }, async () => {
      process.emit('SIGINT', 'SIGINT');
      left = process.listenerCount('SIGINT');
    });
    await expect(work).rejects.toMatchObject({ message: 'stopped by SIGINT' });
    expect(left).toBe(listeners);
  });

  test('without a signal it is the work, and listens no longer', async () => {
    const listeners = process.listenerCount('SIGINT');
    const stop = () => Promise.reject(new Error('not called'));
    await expect(interruptible({ stop }, async () => 7)).resolves.toBe(7);
    await expect(interruptible({ stop }, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
    expect(process.listenerCount('SIGINT')).toBe(listeners);
  });
});
