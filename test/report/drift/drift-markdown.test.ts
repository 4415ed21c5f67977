import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Drift } from '../../../src/model/drift.ts';
import { renderDriftMarkdown } from '../../../src/report/markdown/drift.ts';
import { markdownAttack } from '../../support/report/markdown-attacks.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { drift, hostileDrift, now, sample, smallDrift } from '../../support/report/sample-drift.ts';

describe('drift in Markdown', () => {
  it('lists what changed and who changed it, then what is pending, and the next steps', async () => {
    const text = renderDriftMarkdown(smallDrift, { now });
    await expect(text).toMatchFileSnapshot('drift-markdown.golden.md');
    expect(activeIn(text)).toEqual([]);
  });

  it('says "No drift" only after a complete read', () => {
    expect(renderDriftMarkdown(drift(), { now })).toContain(
      '**No drift, nothing pending, 5 as last applied**',
    );
    const undetermined = [{ address: sample('ball'), message: 'was not answered' }];
    const text = renderDriftMarkdown(drift({ complete: false, undetermined }), { now });
    expect(text).not.toMatch(/No drift|nothing to do/i);
    expect(text).toContain('**The read was incomplete**');
    expect(text).toContain('### Not known whether it drifted');
  });

  it('has no active content for any names, values and actors', () => {
    fc.assert(
      fc.property(fc.array(markdownAttack, { minLength: 25, maxLength: 25 }), (texts) => {
        expect(activeIn(renderDriftMarkdown(hostileDrift(texts), { now }))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it.each(['@', '😀', '`', '|', 'x'])(
    'has at most 60,000 bytes when every text is %j, repeated',
    (character) => {
      const one = hostileDrift([character.repeat(700)]);
      const many = drift({
        ...one,
        drifted: Array.from(
          { length: 400 },
          (_, index) =>
            ({ ...(one.drifted[index % 3] ?? smallDrift.drifted[0]) }) as Drift['drifted'][number],
        ),
        changedNames: Array.from({ length: 400 }, () => one.changedNames[0] as Drift['changedNames'][number]),
        pending: Array.from({ length: 400 }, () => one.pending[0] as Drift['pending'][number]),
        undetermined: Array.from({ length: 400 }, () => one.undetermined[0] as Drift['undetermined'][number]),
        unrecorded: Array.from({ length: 400 }, () => one.undetermined[0] as Drift['undetermined'][number]),
      });
      const text = renderDriftMarkdown(many, { now });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
      expect(text).toMatch(/\*\*and \d+ more that drifted\*\*/);
      expect(activeIn(text)).toEqual([]);
    },
  );
});
