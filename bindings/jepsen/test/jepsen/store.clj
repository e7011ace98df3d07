(ns jepsen.store
  "A stub for tests, which makes the same paths in the store as Jepsen."
  (:require [clojure.java.io :as io]))

(defn path!
  [test & args]
  (assert (:name test))
  (assert (:start-time test))
  (let [file (apply io/file (:base test) (:name test) (str (:start-time test)) (map str (remove nil? args)))]
    (io/make-parents file)
    file))
