/* Colours of the charts by theme and by what a series stands for; of categories of cost those that stand beside
   each other differ in grey too. */
(() => {
  "use strict";
  const PALETTE = {
    light: {
      owned: "#125741", committed: "#b0265e", capacity_block: "#083b4c", on_demand: "#d08000", spot: "#8a3ffc",
      capex: "#125741", commitment: "#b0265e", upfront: "#6b1138", compute: "#d08000", demand: "#17212b",
      advised: "#0b5cad", next_best: "#5b6770", rented: "#8a97a5", low: "#8a97a5", high: "#3d4852",
      storage: "#308191", egress: "#8243c0", install: "#3e92bb", network_storage: "#8d5e2f", power: "#3d2163",
      colocation: "#5d9732", support: "#c34a72", staff: "#1d3658", spares: "#c57852", insurance: "#236a47",
      loan: "#53236a", interest: "#978632", lease: "#a63737", credit: "#143c1b", shortfall: "#cc66bb",
      other: "#5d6976", residual: "#153f3c", tax: "#9d8282",
      paid: "#17212b", budget: "#b3261e", more: "#9c2f1f", less: "#5f8fc4",
      text: "#3d4852", line: "#d5dae0", paper: "#ffffff",
    },
    dark: {
      owned: "#4cc79b", committed: "#e0608f", capacity_block: "#b5ecf5", on_demand: "#ffc266", spot: "#8a5cf0",
      capex: "#4cc79b", commitment: "#e0608f", upfront: "#ffe9f1", compute: "#ffc266", demand: "#f4f6f8",
      advised: "#6cb2f5", next_best: "#aab6c2", rented: "#7d8b99", low: "#7d8b99", high: "#d5dde5",
      storage: "#40a9bf", egress: "#a071d0", install: "#337798", network_storage: "#cc9865", power: "#ede6f7",
      colocation: "#568d2f", support: "#dc95ac", staff: "#d8e3f2", spares: "#b8663d", insurance: "#4ac386",
      loan: "#e9d7f2", interest: "#928131", lease: "#df9e9e", credit: "#c5eccb", shortfall: "#c44db0",
      other: "#99a4ae", residual: "#b3e6e2", tax: "#957979",
      paid: "#f4f6f8", budget: "#ff8a80", more: "#ff9d8a", less: "#5f8fc4",
      text: "#c5ced8", line: "#3a4653", paper: "#182433",
    },
  };
  const REST = { /* Next to each other light and dark, so that they differ in grey. */
    light: [
      "#00778a", "#7a1030", "#8a7a2f", "#2b2f36", "#5f8f2f", "#a0522d", "#3a2a6a", "#c9668a", "#5b6770", "#4f8fd6",
    ],
    dark: [
      "#56b9c7", "#c75676", "#d6c683", "#e1e9f5", "#6ea537", "#e0b2a1", "#8e74d1", "#efcfda", "#6ea6cf", "#3f7abd",
    ],
  };
  const shade = () => (document.documentElement.dataset.bsTheme === "dark" ? "dark" : "light");
  const theme = () => PALETTE[shade()];
  const colour = (role, i) => theme()[role] || REST[shade()][i % REST.light.length];
  window.chartPalette = { theme, colour };
})();
