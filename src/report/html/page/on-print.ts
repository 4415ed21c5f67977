/** Before and after printing, however it is begun: by the user, or by a program that sets the medium. */

export function onPrint(before: () => void, after: () => void): void {
  let isPrinting = false;
  const turn = (now: boolean) => {
    if (now === isPrinting) return;
    isPrinting = now;
    if (now) before();
    else after();
  };
  addEventListener('beforeprint', () => turn(true));
  addEventListener('afterprint', () => turn(false));
  matchMedia('print').addEventListener('change', ({ matches }) => turn(matches));
}
