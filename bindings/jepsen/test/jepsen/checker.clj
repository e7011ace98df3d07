(ns jepsen.checker
  "A stub for tests: the protocol as Jepsen has it.")

(defprotocol Checker
  (check [checker test history opts]))
