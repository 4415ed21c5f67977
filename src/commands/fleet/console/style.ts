/** What the console adds to the style of reports. */
export const consoleStyle = `
.console .head-inner,.console main{max-width:100rem}
.console .head-inner{padding-top:1rem;padding-bottom:1.25rem;gap:.7rem}
.console nav ul{border:0;padding:0}
.console .top{display:flex;flex-wrap:wrap;gap:.2rem 1rem;justify-content:space-between}
.console .fleet-name{color:var(--muted)}
.console .fleet-name strong{color:var(--text)}
.console .user{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline;margin:0}
.console .user span{overflow-wrap:anywhere}
.console .user button{border:0;padding:0;background:none;color:var(--accent);font:inherit;cursor:pointer;text-decoration:underline}
.console header nav{border-bottom:1px solid var(--line)}
.console header nav a{padding:.45rem 0;text-decoration:none;border-bottom:2px solid transparent;margin-bottom:-1px}
.console header nav a:hover{border-color:var(--line)}
.console header nav a[aria-current]{border-color:var(--accent);font-weight:650;color:var(--text)}
.console a.tile{text-decoration:none;border:1px solid transparent}
.console a.tile:hover,.console a.tile[aria-current]{border-color:currentColor}
.console .tile.zero{background:var(--none-soft);color:var(--none)}
.console .static th{font-size:.82rem;font-weight:400;color:var(--muted);white-space:nowrap}
.console .static td{min-width:0}
.console .static td:last-child,.console .static th:last-child{padding-inline-end:0}
.console .static .number{font-variant-numeric:tabular-nums}
.console time{white-space:nowrap}
.console .stack-name a{font-weight:600}
.console .filters input,.console .filters select,.console .filters button{height:2.4rem}
.console .filters .words{min-width:11rem}
.console .filters .pick{flex-basis:10rem}
.console .filters a{padding-bottom:.45rem}
.console .error{color:var(--delete)}
.console .hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.console .command-text{-webkit-user-select:all;user-select:all;white-space:pre-wrap;overflow-wrap:anywhere}
.console .field{display:block}
.console .field ins,.console .field del{border-radius:4px;padding:.05em .3em}
.console .meter{display:inline-block;vertical-align:middle;width:8rem;height:.55rem;border-radius:99px;margin-inline-end:.5rem;border:0;background:var(--none-soft)}
.console meter::-webkit-meter-bar{background:var(--none-soft);border:1px solid var(--line);border-radius:99px;height:.55rem}
.console .actions{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;align-items:center}
.console .pager{flex-wrap:wrap}
.console .pager span{color:var(--muted)}
.console section>.pager{justify-content:flex-start}
@media screen and (max-width:46rem){
.console .static td{display:grid;grid-template-columns:6.5rem minmax(0,1fr);gap:.6rem;padding-inline-end:0}
.console .static td::before{content:attr(data-label);color:var(--muted);font-size:.82rem;padding-top:.1rem}
.console .static td>*{min-width:0}
.console .static td>.action{justify-self:start}
.console .control.words{flex-basis:100%}
}
`;
