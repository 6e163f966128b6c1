import { engineEnvironment } from '../../runtime/boot/engine-environment.js';

test('the engine sees no secret, whoever set it', () => {
  const secrets = {
    ...{ KEY: 's', KEY_FILE: 's', HF_TOKEN: 's', HF_TOKEN_FILE: 's', HUGGING_FACE_HUB_TOKEN: 's' },
    ...{ AWS_SECRET_ACCESS_KEY: 's', DB_PASSWORD: 's', github_token: 's' },
    ...{ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=s', OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: 's' },
    ...{ HTTPS_PROXY: 'http://u:p@proxy:1', http_proxy: 'http://u:p@proxy:1' },
  };
  const env = engineEnvironment({ PATH: '/bin', KEYBOARD: 'de', TOKENIZERS: '1', ...secrets }, false);
  expect(env).toEqual({
    ...{ PATH: '/bin', KEYBOARD: 'de', TOKENIZERS: '1', ORT_DISABLE_TELEMETRY: '1' },
    NVIDIA_TF32_OVERRIDE: '0',
  });
});

test('CUDA multiplies whole floats, unless the operator says otherwise', () => {
  expect(engineEnvironment({}, false)['NVIDIA_TF32_OVERRIDE']).toBe('0');
  expect(engineEnvironment({ NVIDIA_TF32_OVERRIDE: '1' }, false)['NVIDIA_TF32_OVERRIDE']).toBe('1');
});
