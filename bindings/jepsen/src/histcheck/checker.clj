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

(defn- words
  "The words of a command line for options: a flag for true, none for false or nil."
  [opts]
  (mapcat (fn [[option value]]
            (cond (true? value) [(str "--" (name option))]
                  (or (nil? value) (false? value)) []
                  :else [(str "--" (name option) "=" (word value))]))
          opts))

(defn- write-history!
  "Writes a history as EDN, an op a line."
  [^File file history]
  (with-open [w (io/writer file)]
    ;; Nothing of a value may be left out.
    (binding [*out* w, *print-length* nil, *print-level* nil, *print-namespace-maps* false, *print-readably* true]
      (run! prn history))))

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

(defn check
  "The result of a checker on a history. Exit codes above 2 are no verdicts."
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
        (if (seq out)
          (edn/read-string {:default tagged-literal} out)
          (failed (str "histcheck ended with exit code " code " and without a result; standard error says why"))))
      (catch java.io.IOException e
        (failed (str "cannot run histcheck: " (.getMessage e))))
      (finally (.delete file)))))

(defn checker
  "A checker that runs histcheck's checker `model`, or several in a vector. Options are those of the command line:
  `{:consistency-models [:serializable], :keyed \"auto\", :timeout \"5m\"}`. Also:

  - :command  the program, or a vector of it and its first words; default \"histcheck\""
  ([model]
   (checker model {}))
  ([model options]
   (let [command (:command options "histcheck")
         options (dissoc options :command)]
     (reify checker/Checker
       (check [_ test history opts]
         (check command model options test history opts))))))
