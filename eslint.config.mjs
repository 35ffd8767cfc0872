import js from "@eslint/js";
import globals from "globals";

export default [
  {
    files: ["static/*.js"],
    languageOptions: { sourceType: "script", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      complexity: ["error", 8],
      eqeqeq: "error",
      "max-depth": ["error", 2],
      "max-len": ["error", 120],
      "max-lines": ["error", 250],
      "max-lines-per-function": ["error", 30],
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
