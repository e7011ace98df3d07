(ns histcheck.checker
  "A Jepsen checker that runs the command `histcheck` on the test's history.

  One file without dependencies but Jepsen itself: copy it into a test's src/, or put this directory on its classpath.

      (require '[histcheck.checker :as histcheck])
      (histcheck/checker :list-append {:consistency-models [:serializable]})

  Results have Jepsen's own shape: `:valid?`, `:anomaly-types`, `:anomalies`, `:not`, `:also-not`. Explanations and
  pictures go into the directory `histcheck` of the test's store."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [jepsen.checker :as checker]
            [jepsen.store :as store])
  (:import (java.io File)
           (java.lang ProcessBuilder ProcessBuilder$Redirect)))

(defn- word
  "A value of an option as the command line takes it."
  [value]
  (cond (keyword? value)                 (subs (str value) 1)
        (or (sequential? value)
            (set? value))                (apply str (interpose "," (map word value)))
        :else                            (str value)))

(defmacro ^:private in-full
  "Prints values as EDN, with nothing of a value left out."
  [& body]
  `(binding [*print-length* nil, *print-level* nil, *print-namespace-maps* false, *print-readably* true, *print-meta* false
             *print-dup* false]
     ~@body))

(def ^:private value-options
  "Options that are a value of the history, and no words of the command line: false is a value, and [1] is not 1."
  #{"initial" "initial-value" "initial-write-id"})

(defn- words
  "The words of a command line for options: a flag for true, none for false or nil."
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
  "Writes a history as EDN, an op a line."
  [^File file history]
  (with-open [w (io/writer file)]
    (binding [*out* w]
      (in-full (run! prn history)))))

(defn- directory
  "Where explanations and pictures go; nil for a test that has no place in the store."
  [test opts]
  (when (and (:name test) (:start-time test) (not (:no-store? test)))
    (.getPath ^File (apply store/path! test (concat (:subdirectory opts) ["histcheck"])))))

(defn- run-command
  "Runs a command. Its exit code and standard output; standard error goes to that of this process."
  [command]
  (let [process (-> (ProcessBuilder. ^java.util.List (vec command))
                    (.redirectError ProcessBuilder$Redirect/INHERIT)
                    .start)
        _   (.close (.getOutputStream process))
        out (slurp (.getInputStream process))]
    [(.waitFor process) out]))

(defn- failed
  "What Jepsen says of a checker that could not check."
  [message]
  {:valid? :unknown, :error message})

(defn- result
  "The result that a command printed. Exit codes above 2 are no verdicts, but the reason may be printed."
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
  "The result of a checker on a history."
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
  "A checker that runs histcheck's checker `model`, or several in a vector. Options are those of the command line:
  `{:consistency-models [:serializable], :keyed \"auto\", :timeout \"5m\"}`. `:initial`, `:initial-value` and
  `:initial-write-id` are values as in the history: `[1]` is not `1`, and `\"a\"` is not `:a`. Also:

  - :command  the program, or a vector of it and its first words; default \"histcheck\""
  ([model]
   (checker model {}))
  ([model options]
   (let [command (:command options "histcheck")
         options (dissoc options :command)]
     (reify checker/Checker
       (check [_ test history opts]
         (check command model options test history opts))))))
