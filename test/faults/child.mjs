/** A process that downloads what it is told to, as a server or `builder fetch` does, until someone kills it. */
import { hubSource } from '../../dist/runtime/store/hub.js';
import { ensureWeights } from '../../dist/runtime/store/weights.js';

process.on('message', async ({ spec, root, endpoint, tuning, patience }) => {
  const source = () => hubSource({ endpoint, ...patience });
  try {
    const { receivedBytes } = await ensureWeights({
      spec,
      roots: [root],
      downloadRoot: root,
      source,
      tuning,
    });
    process.send({ ok: true, receivedBytes });
  } catch (error) {
    const { name, kind, message, stack } = error;
    process.send({ ok: false, name, kind, message, stack });
  }
});
process.send('here');
