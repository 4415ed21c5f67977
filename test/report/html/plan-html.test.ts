import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretPlaceholder } from '../../../src/redaction/known-secrets.ts';
import { renderDiagnosticsHtml } from '../../../src/report/html/diagnostics.ts';
import { renderPlanHtml } from '../../../src/report/html/plan.ts';
import { anyPlan } from '../../support/report/arbitrary-plan.ts';
import { htmlAttack } from '../../support/report/html-attacks.ts';
import { planOf } from '../../support/report/markdown-attacks.ts';
import { place, problem } from '../../support/report/small-plan.ts';
import { fullPlan, manySamples } from '../../support/report/sample-plans.ts';

const form =
  /^(?<head><!doctype html>.*)<style>(?<style>[^<]*)<\/style>(?<middle>.*)<noscript>\n(?<shown>.*)\n<\/noscript>\n<script type="application\/json" id="report">(?<data>[^<]*)<\/script>\n<script>(?<script>.*)<\/script>\n<\/body>\n<\/html>$/s;

/** The parts of a report. */
function partsOf(html: string) {
  const groups = form.exec(html)?.groups ?? {};
  const { head = '', style = '', middle = '', shown = '', data = '', script = '' } = groups;
  return { head, style, middle, shown, data, script };
}

const now = Date.parse('2026-11-22T12:00:00Z');
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Tags of the report without its script: a few elements, with two attributes that have fixed values. */
const ownTag =
  /<\/?(?:header|div|h1|h2|code|dl|dt|dd|p|section|ul|li|table|thead|tbody|tr|th|td|span|ins|del|br|strong|main)(?: (?:class|scope)="[a-z -]*")?>/g;

describe('the page of a plan', () => {
  it('has everything that a reviewer has to know, as data', async () => {
    const { data } = partsOf(renderPlanHtml(fullPlan, { now, stack: 'stacks/toys' }));
    const text = `${JSON.stringify(JSON.parse(data), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('plan-html.golden.txt');
  });

  it('allows only its own script and style', () => {
    const { head, style, script } = partsOf(renderPlanHtml(fullPlan));
    expect(head).toContain(
      `content="default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"`,
    );
  });

  it('has the same markup for any plan, and escapes texts outside of the data', () => {
    const { data: _, shown: __, ...known } = partsOf(renderPlanHtml(fullPlan));
    fc.assert(
      fc.property(fc.oneof(planOf(htmlAttack), anyPlan), (any) => {
        const { data, shown, ...parts } = partsOf(renderPlanHtml(any));
        const texts = shown.replace(ownTag, '').replace(/&(?:amp|lt|gt|quot|#39|#35);/g, '');
        expect(texts).not.toMatch(/[<>&"'#\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(shown).not.toMatch(/^(?!<)./m);
        expect(parts).toEqual(known);
        expect(data).not.toMatch(/[<>&\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(JSON.parse(data).name).toBeDefined();
      }),
      { numRuns: 60 },
    );
  });

  it('has no line that is a workflow command', () => {
    const { script, style } = partsOf(renderPlanHtml(fullPlan));
    expect(`${script}\n${style}`).not.toMatch(/^\s*::|##\[/m);
  });

  it('has no known secret, even in calls', () => {
    const clean = <T extends object>(value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll('kite', secretPlaceholder)) as T;
    expect(renderPlanHtml(fullPlan, { clean })).not.toContain('kite');
  });

  it('of 5,000 changes has less than 4 MB', () => {
    expect(Buffer.byteLength(renderPlanHtml(manySamples(5_000)))).toBeLessThan(4_000_000);
  });
});

it('the page of a command without a plan has its problems, or the given text if there are none', () => {
  const problems = [
    problem({ severity: 'warning', message: 'later' }),
    problem({ place: place(), fix: 'write it' }),
  ];
  const {
    title,
    summary,
    problems: shown,
  } = JSON.parse(partsOf(renderDiagnosticsHtml(problems, 'Nothing')).data);
  expect({ title, summary }).toEqual({ title: 'No plan could be made', summary: '1 error, 1 warning' });
  expect(shown).toEqual([
    expect.objectContaining({ severity: 'error', spot: 'toys.yaml:4:9', members: [['fix', 'write it']] }),
    expect.objectContaining({ severity: 'warning', message: 'later' }),
  ]);
  expect(JSON.parse(partsOf(renderDiagnosticsHtml([], 'Nothing')).data).summary).toBe('Nothing');
});
