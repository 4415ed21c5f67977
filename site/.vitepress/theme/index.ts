/** VitePress's own theme, with a style for wide tables and diagrams. */
import theme from 'vitepress/theme';
import './style.css';

export default theme;
