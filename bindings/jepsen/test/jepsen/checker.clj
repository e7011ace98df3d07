(ns jepsen.checker
  "A stub for tests, with Jepsen's protocol for checkers.")

(defprotocol Checker
  (check [checker test history opts]))
