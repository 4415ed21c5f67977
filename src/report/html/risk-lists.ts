/** What a reviewer must see first, besides the guards: what goes now or later, and who gains or loses access. Each item leads to its change. */
import type { Change } from '../../model/plan/change.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { hiddenConcerns } from '../format/plan-risks.ts';
import { printable } from '../format/printable.ts';
import type { RiskList } from './report-view.ts';

type Item = RiskList['items'][number];

/** @param changes those of the plan, in the order of the page */
export function riskLists(plan: Plan, changes: readonly Change[]): RiskList[] {
  const taken = (action: Change['action']) =>
    changes.flatMap((change, index) => (change.action === action ? [removal(change, index)] : []));
  const position = new Map(changes.map(({ address }, index) => [formatAddress(address), index]));
  const lists: readonly RiskList[] = [
    { title: 'Deletes', tone: 'danger', filter: { action: 'delete' }, items: taken('delete') },
    { title: 'Releases', tone: 'danger', filter: { action: 'release' }, items: taken('release') },
    {
      title: 'Scheduled destroys',
      tone: 'danger',
      filter: { words: 'destroys' },
      items: changes.flatMap(withRisk('destroys')),
    },
    {
      title: 'Access gained',
      tone: 'warning',
      filter: { words: 'widens' },
      items: changes.flatMap(withRisk('widens')),
    },
    {
      title: 'Access lost',
      tone: 'plain',
      filter: { words: 'narrows' },
      items: changes.flatMap(withRisk('narrows')),
    },
    {
      title: 'What else trips a guard',
      tone: 'warning',
      items: hiddenConcerns(plan).map(({ id, address, messages }) => {
        const name = formatAddress(address);
        const change = position.get(name);
        return {
          name: printable(name),
          text: printable(`${id}: ${messages.join('; ')}`),
          ...(change === undefined ? {} : { change }),
        };
      }),
    },
  ];
  return lists.filter(({ items }) => items.length > 0);
}

/** With all that goes with it: its notes, and who loses access. */
function removal({ address, reason, notes, risks = [] }: Change, change: number): Item {
  const lost = risks.filter(({ effect }) => effect === 'narrows').map(({ message }) => message);
  const losses = [...notes, ...lost].map(printable);
  const name = printable(formatAddress(address));
  return { name, text: printable(reason), change, ...(losses.length === 0 ? {} : { losses }) };
}

function withRisk(effect: Risk['effect']): (change: Change, index: number) => Item[] {
  return ({ address, risks = [] }, change) =>
    risks
      .filter((risk) => risk.effect === effect)
      .map(({ message }) => ({
        name: printable(formatAddress(address)),
        text: printable(message),
        change,
      }));
}
