import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMarked, markerOf, readState, type ShownPlan } from '../../../src/approvals/hidden-lines.ts';
import { markOutdated, renderComment } from '../../../src/run/comment-text.ts';
import { renderPlanMarkdown } from '../../../src/report/markdown/plan.ts';
import { attackingPlan, markdownAttack } from '../../support/report/markdown-attacks.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';

const shown = (about: Partial<ShownPlan> = {}): ShownPlan => ({
  post: 'p1',
  at: '2026-11-22T21:36:28Z',
  commit: 'a'.repeat(40),
  made: '2026-11-22T21:30:00.000Z',
  digest: '0123456789abcdef0123456789abcdef',
  summary: '2 to create, 3 unchanged',
  ...about,
});

const withoutHidden = (text: string) => text.split('\n').slice(2).join('\n');

describe('the comment of a plan', () => {
  it('has the plan, the commit that it was made for, and earlier plans folded', async () => {
    const earlier = [
      shown({
        post: 'p2',
        at: '2026-11-21T08:00:00Z',
        commit: 'b'.repeat(40),
        summary: '1 to delete; 1 problem',
      }),
    ];
    const text = renderComment({
      stack: 'payments',
      shown: shown(),
      plan: '## Plan of `payments`\n\n**2 to create, 3 unchanged**',
      earlier,
      outdated: 'commit "c0ffee" is planned now',
    });
    await expect(text).toMatchFileSnapshot('comment.golden.md');
    expect(activeIn(withoutHidden(text))).toEqual([]);
    expect(readState(text)).toEqual({ shown: shown(), earlier });
  });

  it('has no active content for any texts in the plan, the stack and earlier plans', () => {
    const anyShown = fc
      .array(markdownAttack, { minLength: 5, maxLength: 5 })
      .map(([post = '', at = '', commit = '', digest = '', summary = '']) =>
        shown({ post, at, commit, digest, summary }),
      );
    fc.assert(
      fc.property(
        attackingPlan,
        fc.array(anyShown, { minLength: 1, maxLength: 4 }),
        markdownAttack,
        (plan, all, why) => {
          const [first = shown(), ...earlier] = all;
          const parts = { stack: plan.stack, shown: first, plan: renderPlanMarkdown(plan), earlier };
          const text = renderComment({ ...parts, outdated: why });
          expect(activeIn(withoutHidden(text))).toEqual([]);
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_000);
          expect(text.split('\n').slice(0, 2).join(' ')).toMatch(/^<!-- [\w ]+ --> <!-- [\w+/=]+ -->$/);
          expect(isMarked(text, plan.stack)).toBe(true);
          expect(isMarked(withoutHidden(text), plan.stack)).toBe(false);
          const marked = markOutdated(plan.stack, text, readState(text), why);
          expect(activeIn(withoutHidden(marked))).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('belongs to one stack, even if names are similar', () => {
    const names = ['a', 'a-b', 'a_b', 'a b', `${'x'.repeat(60)}1`, `${'x'.repeat(60)}2`, '--><b>', '\ud800'];
    expect(new Set(names.map(markerOf)).size).toBe(names.length);
  });

  it.each(['', '<!-- -->', '<!-- bm9uZQ== -->', '<!-- e30= -->', `<!-- ${'A'.repeat(70_000)} -->`])(
    'has no state and no earlier plan if its second line was edited to %j',
    (second) => {
      expect(readState(`${markerOf('a')}\n${second}\nrest`)).toBeUndefined();
    },
  );
});
