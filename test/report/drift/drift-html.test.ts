import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderDriftHtml } from '../../../src/report/html/drift.ts';
import type { ReportView } from '../../../src/report/html/report-view.ts';
import { htmlAttack } from '../../support/report/html-attacks.ts';
import { drift, hostileDrift, now, sample, smallDrift } from '../../support/report/sample-drift.ts';

/** The data of the page, and what it shows without its script. */
function partsOf(html: string): { view: ReportView; shown: string } {
  const [, shown = '', data = ''] =
    /<noscript>\n(.*)\n<\/noscript>\n<script type="application\/json" id="report">([^<]*)<\/script>/s.exec(
      html,
    ) ?? [];
  return { view: JSON.parse(data) as ReportView, shown };
}

describe('drift as a page', () => {
  it('has what changed in the targets and who changed it, then what is pending', () => {
    const { view, shown } = partsOf(renderDriftHtml(smallDrift, { now }));
    expect(view).toMatchObject({ title: 'Drift of', summary: expect.stringContaining('3 drifted') });
    const rows = view.plan?.changes.map(({ action, name }) => `${action} ${name}`);
    expect(rows).toEqual([
      ...['changed ball', 'gone old', 'recreated kite', 'unmanaged ball'],
      ...['name ball', 'pending new', 'pending ball'],
    ]);
    expect(view.plan?.changes[0]).toMatchObject({
      fields: [
        { name: 'colour', lines: ['- red', '+ blue'], remarks: 'the files changed it, too' },
        { name: 'friends' },
      ],
      lastModified: ['modified 2 h ago by user-1 (ann), toy update'],
      notes: ['its claim is gone'],
    });
    for (const text of ['Last modified', 'user-1 (ann)', 'Drift not known', 'recreated'])
      expect(shown).toContain(text);
    expect(shown).not.toContain('digest');
  });

  it('says "No drift" only after a complete read', () => {
    expect(partsOf(renderDriftHtml(drift(), { now })).shown).toContain('No drift');
    const undetermined = [{ address: sample('ball'), message: 'was not answered' }];
    const { shown } = partsOf(renderDriftHtml(drift({ complete: false, undetermined }), { now }));
    expect(shown).not.toMatch(/No drift|nothing to do/);
    expect(shown).toContain('The read was incomplete');
  });

  it('escapes all names, values and actors', () => {
    fc.assert(
      fc.property(fc.array(htmlAttack, { minLength: 25, maxLength: 25 }), (texts) => {
        const { view, shown } = partsOf(renderDriftHtml(hostileDrift(texts), { now }));
        expect(view.plan?.changes).toHaveLength(6);
        const own =
          /<\/?(?:header|div|h1|h2|code|dl|dt|dd|p|section|ul|li|table|thead|tbody|tr|th|td|span|ins|del|br|strong|main)(?: (?:class|scope)="[a-z -]*")?>/g;
        const left = shown.replace(own, '').replace(/&(?:amp|lt|gt|quot|#39|#35);/g, '');
        expect(left).not.toMatch(/[<>&"'#\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 30 },
    );
  });
});
