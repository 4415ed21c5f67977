/** Puts into a report who touched what drifted. Neither digest nor calls change with it (rules 27, 50). */
import type { Drift, DriftedResource } from '../../model/plan/drift.ts';
import type { Coverage, Plan } from '../../model/plan/plan.ts';
import type { LastModified } from '../../model/plan/touch.ts';
import { type AddressText, formatAddress } from '../../model/resource/address.ts';

/** What the audit trails told. */
export interface Modifications {
  /** by address in the ledger */
  readonly touched: ReadonlyMap<AddressText, LastModified>;
  /** by target: how the trail was asked, or why it was not */
  readonly trails: ReadonlyMap<string, string>;
}

export function driftWithAuthors(drift: Drift, touches: Modifications): Drift {
  const { unmanaged } = drift;
  return {
    ...drift,
    ...(unmanaged === undefined
      ? {}
      : {
          unmanaged: {
            ...unmanaged,
            resources: unmanaged.resources.map((one) =>
              withLastModified(one, touches.touched.get(formatAddress(one.address))),
            ),
          },
        }),
    drifted: drift.drifted.map((one) =>
      withLastModified(one, touches.touched.get(formatAddress(one.address))),
    ),
    coverage: withTrails(drift.coverage, touches),
  };
}

/** @param drifted from the same reading as the plan */
export function planWithAuthors(
  plan: Plan,
  drifted: readonly DriftedResource[],
  touches: Modifications,
): Plan {
  const byAddress = new Map(
    drifted.map(({ address, declaredAs }) => [
      formatAddress(declaredAs ?? address),
      touches.touched.get(formatAddress(address)),
    ]),
  );
  return {
    ...plan,
    changes: plan.changes.map((change) =>
      withLastModified(change, byAddress.get(formatAddress(change.address))),
    ),
    coverage: withTrails(plan.coverage, touches),
  };
}

function withLastModified<T extends object>(subject: T, touched: LastModified | undefined): T {
  return touched === undefined ? subject : { ...subject, touched };
}

function withTrails(coverage: Coverage, { trails }: Modifications): Coverage {
  return {
    ...coverage,
    targets: coverage.targets.map((target) => {
      const trail = trails.get(target.target);
      return trail === undefined ? target : { ...target, trail };
    }),
  };
}
