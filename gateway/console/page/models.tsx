import { useState } from 'preact/hooks';
import type { ConsoleState, ModelState, PlaygroundPlace } from '../state.js';
import { ask } from './api.js';
import { ModelCharts } from './charts.js';
import { bytes, count, dollars, duration, params, plural, short } from './format.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

type Playground = ConsoleState['playground'];

/** All models of the catalogue, by task. */
export function Models({ models, playground }: { models: readonly ModelState[]; playground: Playground }) {
  const [wanted, setWanted] = useState('');
  const reload = useAction();
  const shown = models.filter(({ id, task, state }) =>
    `${id} ${task} ${state}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  const tasks = [...new Set(shown.map(({ task }) => task))].sort();
  return (
    <section aria-labelledby="models" class="panel">
      <div class="head">
        <h2 id="models">
          Models <span class="note">{count(models.length)}</span>
        </h2>
        <div class="row">
          <input
            type="search"
            aria-label="filter models"
            placeholder="Filter by name, task or state"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
          <button
            type="button"
            disabled={reload.isBusy}
            onClick={() => void reload.run(() => ask('POST', 'api/catalog/reload'))}
          >
            Reload the catalogue
          </button>
        </div>
      </div>
      <Problem text={reload.problem} />
      {shown.length === 0 && (
        <p class="note">{models.length === 0 ? 'The catalogue is empty.' : 'No model matches.'}</p>
      )}
      {tasks.map((task) => (
        <div key={task} class="task">
          <h3>{task}</h3>
          <ul class="list">
            {shown
              .filter((model) => model.task === task)
              .map((model) => (
                <Model key={model.id} model={model} playground={playground} />
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Model({ model, playground }: { model: ModelState; playground: Playground }) {
  const { id, state, reason, latency, usage } = model;
  const act = useAction();
  const [isOpen, setOpen] = useState(false);
  const isHere = state !== 'elsewhere';
  return (
    <li class="model">
      <div class="name">
        <strong>{id}</strong>
        <span class={`state ${state}`}>{state}</span>
        <button
          type="button"
          class="quiet fold"
          aria-label={`Charts of ${id}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Charts
        </button>
      </div>
      <dl class="facts">
        <Fact name="memory" value={isHere ? bytes(model.size) : '–'} more={isHere ? sizeText(model) : ''} />
        <Fact name="servers" value={count(model.servers)} more={`${count(model.underWay)} under way`} />
        <Fact name="requests" value={count(model.requests)} more={plural(model.errors, 'error')} />
        <Fact name="cold starts" value={count(model.coldStarts)} />
        <Fact name="median" value={duration(latency.p50)} more={`p95 ${duration(latency.p95)}`} />
        <Fact name="cost" value={dollars(usage.cost)} />
        {usage.tokensIn + usage.tokensOut === 0 ? (
          <Fact name="tokens" value="–" />
        ) : (
          <Fact name="tokens" value={`${short(usage.tokensIn)} in`} more={`${short(usage.tokensOut)} out`} />
        )}
      </dl>
      <div class="row actions">
        {playground && (
          <a href={pageOf(id, playground)} target="_blank" rel="noopener" aria-label={`Playground of ${id}`}>
            Playground
          </a>
        )}
        {isHere ? <Actions model={model} act={act} /> : <small>{reason}</small>}
      </div>
      {state === 'failed' && <p class="error">{reason}</p>}
      <Problem text={act.problem} />
      {isOpen && <ModelCharts id={id} path={pathOf(id)} />}
    </li>
  );
}

/** Of a model, in the interface of the console. */
const pathOf = (id: string) => `api/models/${id.split('/').map(encodeURIComponent).join('/')}`;

function Actions({
  model: { id, state, servers },
  act,
}: {
  model: ModelState;
  act: ReturnType<typeof useAction>;
}) {
  const run = (name: string) => void act.run(() => ask('POST', `${pathOf(id)}/${name}`));
  const canStart = state === 'cold' || state === 'failed' || state === 'stopping';
  return (
    <>
      <button
        type="button"
        aria-label={`Warm up ${id}`}
        disabled={!canStart || act.isBusy}
        onClick={() => run('warm')}
      >
        {act.isBusy || state === 'starting' ? 'Starting …' : 'Warm up'}
      </button>
      <button
        type="button"
        aria-label={`Stop ${id}`}
        disabled={servers === 0 || state === 'stopping'}
        onClick={() => run('stop')}
      >
        Stop
      </button>
    </>
  );
}

/** How large it is, and who says so. */
const sizeText = ({ params: billions, figures }: ModelState) =>
  billions === null ? figures : `${params(billions)}, ${figures}`;

function Fact({ name, value, more = '' }: { name: string; value: string; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {more !== '' && <dd class="more">{more}</dd>}
    </div>
  );
}

/** The page of a model. */
function pageOf(id: string, { url, port, path }: PlaygroundPlace): string {
  const here = new URL(location.origin);
  here.port = String(port);
  return `${url ?? here.origin}${path}/${id.split('/').map(encodeURIComponent).join('/')}/`;
}
