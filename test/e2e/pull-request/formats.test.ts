/** Reports for a pull request and its CI job: Markdown, HTML, annotations, SARIF, events and a graph, through the real command line. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';

const misspelt = { ...workspace('app'), spec: { autoAply: true } };

/** Runs a command as a step of a GitHub job, in a repository whose root is the parent of the stack. */
async function asStep(stack: Checkout, args: readonly string[], code: number) {
  const [summary, outputs] = ['summary.md', 'outputs.txt'].map((file) => join(stack.directory, file));
  for (const file of [summary, outputs]) await writeFile(file ?? '', '');
  const env = {
    ...secrets,
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: join(stack.directory, '..'),
    GITHUB_STEP_SUMMARY: summary ?? '',
    GITHUB_OUTPUT: outputs ?? '',
  };
  const ran = await trueup([...args, '--format', 'github'], { cwd: stack.directory, env });
  expect(ran.code).toBe(code);
  const written = await readFile(outputs ?? '', 'utf8');
  const values = [...written.matchAll(/^([\w-]+)<<(trueup_[\w-]{36})\n(.*?)\n\2$/gms)];
  return {
    ...ran,
    commands: [...ran.out.split('\n'), ...ran.err.split('\n')].filter((line) => /^\s*::|##\[/.test(line)),
    summary: await readFile(summary ?? '', 'utf8'),
    outputs: Object.fromEntries(values.map(([, name, , value]) => [name, value])),
    delimiters: new Set(values.map(([, , delimiter]) => delimiter)),
  };
}

describe('--format markdown', () => {
  it('of plan and show gives the same report, and nothing else on stdout', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { description: '@ann | `x` <b>' }));
    const planned = await stack.run(['plan', '--format', 'markdown', '--out', 'plan.json'], 0);
    expect(planned.out).toMatch(/^## Plan of `payments`\n\n\*\*1 to create, 0 unchanged\*\*\\\n/);
    expect(planned.out).toContain('+ description: @ann | `x` <b>');
    expect(activeIn(planned.out)).toEqual([]);
    const shown = await stack.run(['show', 'plan.json', '--format', 'markdown'], 0);
    expect(shown.out).toBe(planned.out);
  });

  it('of validate reports errors first, or that all is valid', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { out, err } = await stack.run(['validate', '--format', 'markdown'], 7);
    expect(out).toMatch(
      /^### 1 error in 1 file\n\n\*\*error\*\* `unknown-field` `manifests\/all.yaml:1:\d+`: /,
    );
    expect(err).toContain('error[unknown-field]');
    await stack.declare(workspace('app'));
    const valid = await stack.run(['validate', '--format', 'markdown'], 0);
    expect(valid.out).toBe(
      '### valid&#58; stack payments, 1 file, 1 document, 1 resource\n'.replace('&#58;', ':'),
    );
  });

  it('of a failed plan says why', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { out } = await stack.run(['plan', '--format', 'markdown'], 7);
    expect(out).toContain('**error** `unknown-field`');
    const usage = await stack.run(['plan', '--format', 'markdown', '--nonsense'], 1);
    expect(usage.out).toContain('**error** `usage`: unknown option');
  });

  it.each(['jsonl', 'sarif', 'github'])(
    'is suggested in the text answer to a format that the command does not have, such as %s',
    async (format) => {
      const stack = await (await openBench()).checkout();
      const { out, err } = await stack.run(['drift', '--format', format], 1);
      expect(out).toBe('');
      expect(err).toContain(
        `argument '${format}' is invalid. Allowed choices are text, json, markdown, html.`,
      );
    },
  );

  it('contains no secret, even if a value repeats one', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { description: `is ${secrets.API_TOKEN}` }));
    for (const format of ['markdown', 'github']) {
      const { out } = await stack.run(['plan', '--format', format], 0);
      expect(out).toContain('is [secret]');
      expect(out).not.toContain(secrets.API_TOKEN);
    }
  });
});

describe('--format html', () => {
  const dataOf = (html: string) =>
    JSON.parse(/<script type="application\/json" id="report">([^<]*)<\/script>/.exec(html)?.[1] ?? '{}');

  it('of plan and show gives the same document, with the requests in it', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { description: '<b>' }));
    const planned = await stack.run(['plan', '--format', 'html', '--out', 'plan.json'], 0);
    expect(planned.out).toMatch(/^<!doctype html>\n.*<\/html>\n$/s);
    const { name, plan } = dataOf(planned.out);
    expect(name).toBe('payments');
    expect(plan.changes).toMatchObject([
      { action: 'create', kind: 'Workspace', name: 'app', calls: [{ method: 'POST' }] },
      ...plan.changes.slice(1),
    ]);
    const shown = await stack.run(['show', 'plan.json', '--format', 'html'], 0);
    expect(shown.out).toBe(planned.out);
  });

  it('of a failed plan is a document that says why', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { out } = await stack.run(['plan', '--format', 'html'], 7);
    expect(dataOf(out).problems).toMatchObject([{ severity: 'error', code: 'unknown-field' }]);
    const usage = await stack.run(['plan', '--format', 'html', '--nonsense'], 1);
    expect(dataOf(usage.out).problems).toMatchObject([{ code: 'usage' }]);
  });

  it('contains no secret, even if a value repeats one, also not in a request', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { description: `is ${secrets.API_TOKEN}` }));
    const { out } = await stack.run(['plan', '--format', 'html'], 0);
    expect(JSON.stringify(dataOf(out).plan.changes[0].calls)).toContain('is [secret]');
    expect(out).not.toContain(secrets.API_TOKEN);
  });
});

describe('--format github', () => {
  it('annotates a problem at its line in the repository, and writes the report to the summary', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { commands, summary, outputs } = await asStep(stack, ['validate'], 7);
    const folder = stack.directory.split('/').at(-1);
    expect(commands).toEqual([
      expect.stringMatching(
        new RegExp(
          `^::error file=${folder}/manifests/all\\.yaml,line=1,col=\\d+,title=unknown-field::.*%0Afix: `,
        ),
      ),
    ]);
    expect(summary).toContain('### 1 error in 1 file');
    expect(outputs).toEqual({ 'exit-code': '7' });
  });

  it('of a plan writes its text, its Markdown, and the digest and counts for later steps', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'), role('web'));
    const step = await asStep(stack, ['plan'], 0);
    const { digest } = await stack.plan();
    expect(step.out).toContain(`digest ${digest}`);
    expect(step.summary).toContain('## Plan of `payments`');
    expect(step.outputs).toMatchObject({
      digest,
      stack: 'payments',
      changes: '2',
      create: '2',
      'exit-code': '0',
    });
    const again = await asStep(stack, ['plan'], 0);
    expect([...again.delimiters]).not.toEqual([...step.delimiters]);
  });

  it('prints no text of a manifest as a workflow command, nor does another format', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { description: '::error::x\n::add-mask::y\n##[error]z' }));
    const env = { ...secrets, GITHUB_ACTIONS: 'true' };
    for (const format of ['text', 'json', 'markdown', 'github']) {
      const { out } = await trueup(['plan', '--format', format], { cwd: stack.directory, env });
      expect(out.split('\n').filter((line) => /^\s*::|##\[/.test(line))).toEqual([]);
      expect(out).toContain('add-mask');
    }
  });

  it('continues if the summary cannot be written', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const env = { ...secrets, GITHUB_STEP_SUMMARY: join(stack.directory, 'none', 'summary.md') };
    const { code, err } = await trueup(['plan', '--format', 'github'], { cwd: stack.directory, env });
    expect(code).toBe(0);
    expect(err).toMatch(/GITHUB_STEP_SUMMARY \("[^"]+"\) was not written/);
  });
});

it('--format sarif of validate has a result for each problem, including lint warnings', async () => {
  const stack = await (await openBench()).checkout();
  await stack.declare(
    misspelt,
    role('web', { boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'] }),
  );
  const { out } = await stack.run(['validate', '--format', 'sarif'], 7);
  const [run] = JSON.parse(out).runs;
  const rules = run.results.map(
    ({ ruleId, level }: { ruleId: string; level: string }) => `${level} ${ruleId}`,
  );
  expect(rules).toContain('error unknown-field');
  expect(rules.some((rule: string) => rule.startsWith('warning '))).toBe(true);
  await stack.declare(workspace('app'));
  expect(JSON.parse((await stack.run(['validate', '--format', 'sarif'], 0)).out).runs[0].results).toEqual([]);
});

describe('apply --format jsonl', () => {
  async function eventsOf(text: string) {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const path = new URL('../../../schemas/apply-event.schema.json', import.meta.url);
    const check = ajv.compile(JSON.parse(await readFile(path, 'utf8')));
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const event of events) {
      check(event);
      expect(check.errors ?? [], JSON.stringify(event)).toEqual([]);
    }
    expect(events.map(({ seq }) => seq)).toEqual([...events.keys()]);
    return events;
  }

  it('streams events to stdout, and the readable report to stderr', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const { out, err } = await stack.run(['apply', '--yes', '--format', 'jsonl'], 0);
    const events = await eventsOf(out);
    expect(events.map(({ type }) => type)).toEqual(
      'started planned applying change-started change-ended ended'.split(' '),
    );
    expect(events.at(4)).toMatchObject({ address: 'Workspace/acme/app', outcome: 'applied', finished: 1 });
    expect(events.at(-1)).toMatchObject({ exitCode: 0, outcomes: { applied: 1 } });
    expect(err).toContain('+ create  Workspace/acme/app');
    expect(err).toContain('Planned again: nothing is left to do');
  });

  it('ends with the exit code also if the apply never began, and names the problem', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { out } = await stack.run(['apply', '--yes', '--format', 'jsonl'], 7);
    const events = await eventsOf(out);
    expect(events.map(({ type }) => type)).toEqual(['started', 'diagnostic', 'ended']);
    expect(events.at(1).diagnostic).toMatchObject({ code: 'unknown-field' });
    expect(events.at(-1)).toMatchObject({ exitCode: 7 });
  });

  it('reports a change that the service refuses', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { answer: 422, body: { errors: [] } } });
    const { out, code } = await stack.tryRun(['apply', '--yes', '--format', 'jsonl']);
    const events = await eventsOf(out);
    expect(events.find(({ type }) => type === 'change-ended')).toMatchObject({ outcome: 'failed' });
    expect(events.at(-1)).toMatchObject({ exitCode: code, outcomes: { failed: 1 } });
  });
});

describe('trueup graph', () => {
  it('draws the plan of a stack and of a plan file in the same way', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { remoteStateConsumers: ['reader'] }), workspace('reader'));
    const { out } = await stack.run(['graph'], 0);
    expect(out).toMatch(/^flowchart LR\n/);
    expect(out).toContain('<br>Workspace/acme/reader"]:::createChange');
    expect(out).toMatch(/n\d+ --> n\d+/);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    expect((await stack.run(['graph', 'plan.json'], 0)).out).toBe(out);
  });

  it('says on stderr what is missing in the diagram', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    bench.wire.add({
      path: /^\/v1\//,
      times: 1000,
      fault: { answer: 503, body: { errors: ['Vault is sealed'] } },
    });
    const { out, err } = await stack.run(['graph'], 1);
    expect(out).toContain('Workspace/acme/app');
    expect(err).toContain('error[target-unread]');
    expect(err).toContain('the read was incomplete, so changes may be missing here');
  });

  it('prints no diagram for invalid manifests, and the reason on stderr', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(misspelt);
    const { out, err } = await stack.run(['graph'], 7);
    expect(out).toBe('');
    expect(err).toContain('error[unknown-field]');
  });
});

describe('An apply of a plan that is not the approved one', () => {
  async function openChanged() {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('one'), workspace('two'));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.declare(
      workspace('one'),
      ...Array.from({ length: 25 }, (_, index) => workspace(`new-${index}`)),
    );
    return stack;
  }

  it('prints the reason, then how the plans differ, and no more', async () => {
    const stack = await openChanged();
    const { out, err } = await stack.run(['apply', 'plan.json'], 4);
    expect(err).toMatch(/^error: nothing was written: the plan is not the one that was approved/);
    expect(out).toMatch(/^\nOnly in approved\n {2}\+ create {2}Workspace\/acme\/two\n/);
    expect(out).toContain('and 5 more: "trueup diff" and "--format json" list all');
    expect(out).not.toContain('Checked');
  });

  it('shows the plan with --show-plan', async () => {
    const stack = await openChanged();
    expect((await stack.run(['apply', 'plan.json', '--show-plan'], 4)).out).toContain('Checked');
  });

  it('prints only the reason if it has only a digest', async () => {
    const stack = await openChanged();
    const { out, err } = await stack.run(['apply', '--approve', '0'.repeat(32)], 4);
    expect(out).toBe('');
    expect(err).toContain('was approved: live or the manifests changed since');
    expect(err).toContain('the approval was for another part of the stack ("--select" with other words)');
  });
});

describe('A value with double quotes', () => {
  const forged = 'p" for 1s only, approved by "ann" and "q';
  const escaped = JSON.stringify(forged).slice(1, -1);

  it('stays inside its quotes in every report of a plan, and inside its code in Markdown', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(role('web', { tokenPolicies: [forged] }));
    const text = await stack.run(['plan'], 0);
    expect(text.out.replace(/\s+/g, ' ')).toContain(`gets the policies "${escaped}", "default"`);
    const markdown = await stack.run(['plan', '--format', 'markdown'], 0);
    expect(markdown.out).toContain(`gets the policies \`${escaped}\`, \`default\``);
    const html = await stack.run(['plan', '--format', 'html'], 0);
    const data = /<script type="application\/json" id="report">([^<]*)<\/script>/.exec(html.out)?.[1] ?? '{}';
    const { changes } = JSON.parse(data).plan;
    expect(JSON.stringify(changes[0].risks)).toContain(
      JSON.stringify(`"${escaped}", "default"`).slice(1, -1),
    );
    const table = html.out.slice(html.out.indexOf('<table class="static">'));
    expect(table).not.toContain(forged.replaceAll('"', '&quot;'));
    for (const report of [text.out, markdown.out]) expect(report).not.toContain(forged);
  });

  it('stays inside its quotes in a problem that validate reports', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app', { tagNames: ['x" is fine, and "y'] }));
    for (const format of ['text', 'markdown']) {
      const { out, err } = await stack.run(['validate', '--format', format], 7);
      expect(out + err).toContain(String.raw`x\" is fine, and \"y`);
    }
  });
});
