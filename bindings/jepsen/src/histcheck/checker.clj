(ns histcheck.checker
  "A Jepsen checker that runs the command `histcheck` on the test's history.

  This file depends only on Jepsen: copy it into the src/ of a test, or put this directory on the test's classpath.

      (require '[histcheck.checker :as histcheck])
      (histcheck/checker :list-append {:consistency-models [:serializable]})

  Results have the form of Jepsen's own checkers: `:valid?`, `:anomaly-types`, `:anomalies`, `:not`, `:also-not`.
  Explanations and pictures are written to the directory `histcheck` in the test's store."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [jepsen.checker :as checker]
            [jepsen.store :as store])
  (:import (java.io File)
           (java.lang ProcessBuilder ProcessBuilder$Redirect)))

(defn- word
  "Returns the value of an option as text for the command line."
  [value]
  (cond (keyword? value)                 (subs (str value) 1)
        (or (sequential? value)
            (set? value))                (apply str (interpose "," (map word value)))
        :else                            (str value)))

(defmacro ^:private in-full
  "Runs the body so that it prints values as complete EDN, whatever the printing variables are."
  [& body]
  `(binding [*print-length* nil, *print-level* nil, *print-namespace-maps* false, *print-readably* true, *print-meta* false
             *print-dup* false]
     ~@body))

(def ^:private value-options
  "Options that take a value as in the history, printed as EDN: false is a value, and [1] differs from 1."
  #{"initial" "initial-value" "initial-write-id"})

(defn- words
  "Returns the arguments of the command line for options: a flag for true, nothing for false or nil."
  [opts]
  (mapcat (fn [[option value]]
            (let [option (name option)]
              (cond (nil? value) []
                    (value-options option) [(str "--" option "=" (in-full (pr-str value)))]
                    (true? value) [(str "--" option)]
                    (false? value) []
                    :else [(str "--" option "=" (word value))])))
          opts))

(defn- write-history!
  "Writes a history as EDN, one op per line."
  [^File file history]
  (with-open [w (io/writer file)]
    (binding [*out* w]
      (in-full (run! prn history)))))

(defn- directory
  "Returns the path for explanations and pictures, or nil for a test without a directory in the store."
  [test opts]
  (when (and (:name test) (:start-time test) (not (:no-store? test)))
    (.getPath ^File (apply store/path! test (concat (:subdirectory opts) ["histcheck"])))))

(defn- run-command
  "Runs a command. Returns its exit code and standard output. It inherits the standard error of this process."
  [command]
  (let [process (-> (ProcessBuilder. ^java.util.List (vec command))
                    (.redirectError ProcessBuilder$Redirect/INHERIT)
                    .start)
        _   (.close (.getOutputStream process))
        out (slurp (.getInputStream process))]
    [(.waitFor process) out]))

(defn- failed
  "Returns Jepsen's result for a checker that failed."
  [message]
  {:valid? :unknown, :error message})

(defn- result
  "Returns the result that the command printed. An exit code above 2 is not a verdict; the output may contain the error."
  [code out]
  (let [printed (try (edn/read-string {:default tagged-literal} out)
                     (catch RuntimeException _ nil))]
    (cond (not (map? printed)) (failed (str "histcheck ended with exit code " code
                                            " and without a result; standard error says why"))
          (<= 0 code 2)        printed
          (:error printed)     (assoc printed :valid? :unknown)
          :else                (failed (str "histcheck ended with exit code " code
                                            ", so its result is no verdict; standard error says why")))))

(defn check
  "Checks a history and returns the result."
  [command model options test history opts]
  (let [file (File/createTempFile "histcheck" ".edn")]
    (try
      (write-history! file history)
      (let [dir        (directory test opts)
            [code out] (run-command
                         (concat (if (sequential? command) command [command])
                                 ["-m" (word model) "--format" "edn" "--output" "edn" "--compat" "jepsen"]
                                 (when dir ["-d" dir])
                                 (words options)
                                 ["--" (.getPath file)]))]
        (result code out))
      (catch java.io.IOException e
        (failed (str "cannot run histcheck: " (.getMessage e))))
      (finally (.delete file)))))

(defn checker
  "Returns a Jepsen checker that runs the checker `model` of histcheck, or several in a vector. The options are those of
  the command line: `{:consistency-models [:serializable], :keyed \"auto\", :timeout \"5m\"}`. `:initial`,
  `:initial-value` and `:initial-write-id` are values as in the history: `[1]` differs from `1`, and `\"a\"` from `:a`.
  There is one more option:

  - :command  the program, or a vector of the program and its first arguments [default: \"histcheck\"]"
  ([model]
   (checker model {}))
  ([model options]
   (let [command (:command options "histcheck")
         options (dissoc options :command)]
     (reify checker/Checker
       (check [_ test history opts]
         (check command model options test history opts))))))
