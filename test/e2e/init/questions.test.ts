/** `trueup init` on a terminal: it asks for values that no flag or variable sets, and writes nothing before the last answer. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secrets } from '../../support/cli/bench.ts';
import { type FirstStack, openFirstStack, textsIn } from '../../support/cli/first-stack.ts';
import { onTerminal, type TerminalUser, type TerminalRun } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const [ctrlC, ctrlD] = ['\u0003', '\u0004'];

/** Types each answer once its question is on the screen. */
function answering(
  first: FirstStack,
  env: Readonly<Record<string, string>>,
  answers: readonly (readonly [question: RegExp, answer: string])[],
  args: readonly string[] = [],
): Promise<TerminalRun> {
  const options = { cwd: first.directory, env: { HOME: temporaryFolder(), ...env } };
  return onTerminal(['init', ...args], options, async (person: TerminalUser) => {
    for (const [question, answer] of answers) {
      await person.waitForText(question);
      person.typeText(answer);
    }
  });
}

const firstAnswers = [
  [/What does the stack manage\?/, '1\r'],
  [/Address of the service\?/, '\r'],
  [/Use the token in TFE_TOKEN to read from http:\S+\? \[y\/N\]/, 'y\r'],
] as const;

describe('The questions of init', () => {
  it('can be answered by numbers and by Enter, and end with an export', async () => {
    const first = await openFirstStack();
    const { code, screen } = await answering(first, first.workspacesEnv, [
      ...firstAnswers,
      [/Name of the organization\?[\s\S]*1\) acme[\s\S]*2\) beta/, 'bata\r'],
      [/no organization of this name; did you mean "beta"\?[\s\S]*Name of the organization\?/, '1\r'],
      [/Name of the stack\? \(Enter: payments\)/, 'Not A Name\r'],
      [/lower-case letters, digits and "-", at most 63[\s\S]*Name of the stack/, 'platform\r'],
      [/Which CI plans and applies each change\? \(Enter: none\)/, 'github\r'],
      [/Write manifests for 1 resource without an owner\?/, 'y\r'],
    ]);
    expect({ code, screen }).toMatchObject({ code: 0 });
    expect(screen).not.toContain(secrets.API_TOKEN);
    const files = textsIn(first.directory);
    expect(Object.keys(files)).toEqual([
      '.github/actions/trueup/action.yml',
      '.github/workflows/trueup-apply.yml',
      '.github/workflows/trueup.yml',
      '.gitignore',
      'manifests/README.md',
      'manifests/acme/workspace/net.yaml',
      'trueup.yaml',
    ]);
    expect(files['trueup.yaml']).toContain('metadata: { name: platform }');
    expect(first.written()).toEqual([]);
  });

  it('are few for the embedded service', async () => {
    const first = await openFirstStack();
    const { code } = await answering(first, {}, [[/What does the stack manage\?/, 'embedded\r']]);
    expect(code).toBe(0);
    expect(Object.keys(textsIn(first.directory))).toContain('manifests/example.yaml');
  });

  it('ask for the product, the mount and the role names of a secrets service', async () => {
    const first = await openFirstStack();
    const { code, screen } = await answering(first, first.mountEnv, [
      [/What does the stack manage\?/, '2\r'],
      [/Which product is it\? \(Enter: vault\)/, '\r'],
      [/Address of the service\?/, '\r'],
      [/Use the token in VAULT_TOKEN/, 'yes\r'],
      [/Namespace, if the service has namespaces\?/, '\r'],
      [/Mount of the authentication method, below "auth\/"\? \(Enter: kubernetes\)/, 'pay-*\r'],
      [/a mount has one name, without "\*"; .*"--owns"[\s\S]*Mount of the/, '\r'],
      [/Role names that this stack owns/, 'pay-*, web\r'],
      [/Name of the stack\?/, '\r'],
      [/Which CI plans/, '\r'],
    ]);
    expect({ code, screen }).toMatchObject({ code: 0 });
    expect(textsIn(first.directory)['trueup.yaml']).toContain('owns: [pay-*, web]');
    expect(screen).toContain('config: root');
  });

  it('say that a mount cannot show the owners of its roles', async () => {
    const first = await openFirstStack();
    const spec = {
      bound_service_account_names: ['a'],
      bound_service_account_namespaces: ['b'],
      audience: 'c',
    };
    const { status } = await fetch(`${first.wire.url}/v1/auth/kubernetes/role/web`, {
      method: 'POST',
      headers: { 'x-vault-token': secrets.SERVICE_TOKEN },
      body: JSON.stringify(spec),
    });
    expect(status).toBeLessThan(300);
    const { code, screen } = await answering(
      first,
      first.mountEnv,
      [
        [/Use the token in VAULT_TOKEN/, 'y\r'],
        [/Write manifests for 1 resource\? A mount cannot show whether another stack has them\./, '\r'],
      ],
      [
        '--mount',
        'kubernetes',
        '--owns',
        '*',
        '--namespace',
        '',
        '--url',
        first.wire.url,
        '--dialect',
        'vault',
        '--name',
        'a',
        '--ci',
        'none',
      ],
    );
    expect({ code, screen }).toMatchObject({ code: 0 });
    expect(screen).not.toContain('without an owner');
  });

  it.each([
    ['--no-connect', ['--token-env', 'TFE_TOKEN']],
    ['--no-connect', ['--token-file', 'token']],
    ['--dry-run', ['--token-env', 'TFE_TOKEN']],
    ['--dry-run', ['--token-file', 'token']],
  ])(
    'send no request with %s and %j, so the organization is asked for without choices',
    async (flag, token) => {
      const first = await openFirstStack();
      writeFileSync(join(first.directory, 'token'), secrets.API_TOKEN);
      const args = [
        flag,
        ...token,
        '--service',
        'workspaces',
        '--url',
        first.wire.url,
        '--ci',
        'none',
        '--name',
        'x',
      ];
      const { code, screen } = await answering(
        first,
        first.workspacesEnv,
        [[/Name of the organization\?/, 'acme\r']],
        args,
      );
      expect({ code, screen }).toMatchObject({ code: 0 });
      expect(screen).not.toContain('read -rs');
      expect(first.wire.seen).toEqual([]);
    },
  );

  it('are not asked with --yes, except for values without a default', async () => {
    const first = await openFirstStack();
    const { code } = await answering(
      first,
      first.workspacesEnv,
      [[/Name of the organization\?/, '2\r']],
      ['--yes'],
    );
    expect(code).toBe(0);
    expect(textsIn(first.directory)['trueup.yaml']).toContain('organization: beta');
  });
});

it('init does not send a token that the user declines to use, and writes the files', async () => {
  const first = await openFirstStack();
  const { code, screen } = await answering(first, first.workspacesEnv, [
    ...firstAnswers.slice(0, 2),
    [/Use the token in TFE_TOKEN/, '\r'],
    [/Name of the organization\?/, 'acme\r'],
    [/Name of the stack\?/, '\r'],
    [/Which CI plans/, '\r'],
  ]);
  expect({ code, screen }).toMatchObject({
    code: 0,
    screen: expect.stringContaining(
      'Nothing was sent to the service: you declined to use the token in TFE_TOKEN.',
    ),
  });
  expect(first.wire.seen).toEqual([]);
});

describe('An interrupted init', () => {
  it.each([
    ['Ctrl-C at the first question', [[/What does the stack manage\?/, ctrlC]]],
    ['Ctrl-D at the first question', [[/What does the stack manage\?/, ctrlD]]],
    ['Ctrl-C at the token', [...firstAnswers.slice(0, 2), [/Use the token/, ctrlC]]],
    [
      'Ctrl-C at the last question',
      [...firstAnswers, [/organization\?/, '1\r'], [/stack\? \(/, '\r'], [/Which CI/, ctrlC]],
    ],
  ] as const)('writes nothing: %s', async (_, answers) => {
    const first = await openFirstStack();
    const { code, screen } = await answering(first, first.workspacesEnv, answers);
    expect({ code, screen }).toEqual({ code: 130, screen: expect.stringContaining('nothing was written') });
    expect(textsIn(first.directory)).toEqual({});
  });

  it('keeps the written files if it is interrupted at the offer of an export', async () => {
    const first = await openFirstStack();
    const { code, screen } = await answering(
      first,
      first.workspacesEnv,
      [...firstAnswers.slice(1), [/Write manifests for 1 resource/, ctrlC]],
      ['--organization', 'acme', '--name', 'platform', '--ci', 'none'],
    );
    expect({ code, screen }).toEqual({
      code: 130,
      screen: expect.stringContaining('the files above are written'),
    });
    expect(Object.keys(textsIn(first.directory))).toEqual([
      '.gitignore',
      'manifests/README.md',
      'trueup.yaml',
    ]);
  });

  it('writes nothing if the terminal is closed', async () => {
    const first = await openFirstStack();
    await onTerminal(['init'], { cwd: first.directory, env: first.workspacesEnv }, async (person) => {
      await person.waitForText(/What does the stack manage\?/);
      person.closeTerminal();
    });
    expect(textsIn(first.directory)).toEqual({});
  });
});
