(ns histcheck.checker-test
  "Tests of the checker. The first argument is the path of histcheck."
  (:require [clojure.java.io :as io]
            [clojure.test :refer [deftest is run-tests testing]]
            [histcheck.checker :as histcheck]
            [jepsen.checker :as checker]))

(def command (atom nil))

(defn check
  [model options test history opts]
  (checker/check (histcheck/checker model (assoc options :command @command)) test history opts))

(defn op [process type f value] {:process process, :type type, :f f, :value value})

(def skew
  "Two transactions that each miss the other's append."
  [(op 0 :invoke :txn [[:append :x 1] [:r :y nil]])
   (op 1 :invoke :txn [[:append :y 1] [:r :x nil]])
   (op 0 :ok :txn [[:append :x 1] [:r :y []]])
   (op 1 :ok :txn [[:append :y 1] [:r :x []]])
   (op 0 :invoke :txn [[:r :x nil] [:r :y nil]])
   (op 0 :ok :txn [[:r :x [1]] [:r :y [1]]])])

(deftest shape
  (let [result (check :list-append {} {} skew {})]
    (is (= false (:valid? result)))
    (is (= [:G2-item] (:anomaly-types result)))
    (is (= [:G2-item] (keys (:anomalies result))))
    (is (set? (:not result)))
    (is (contains? (:not result) :repeatable-read))
    (let [anomaly (first (:G2-item (:anomalies result)))]
      (is (string? (:explanation anomaly)))
      (is (= #{2 3} (set (map :index (:cycle anomaly))))))))

(deftest options
  (is (= true (:valid? (check :list-append {:consistency-models [:snapshot-isolation]} {} skew {}))))
  (let [result (check [:list-append :stats] {:consistency-models [:snapshot-isolation]} {} skew {})]
    (is (= true (:valid? result) (:valid? (:list-append result)) (:valid? (:stats result))))))

(deftest nothing-observed
  (is (= :unknown (:valid? (check :list-append {} {} [(first skew)] {})))))

(deftest keys-of-a-history
  (let [keyed (for [key [1 2], o skew] (update o :value (fn [value] [key value])))
        ;; Only one transaction of the second key remains.
        keyed (remove #(and (= 2 (first (:value %))) (or (= 1 (:process %)) (= :r (ffirst (second (:value %)))))) keyed)
        result (check :list-append {:keyed true} {} keyed {})]
    (is (= false (:valid? result)))
    (is (= [1] (:failures result)))))

(deftest store
  (let [base (.toFile (java.nio.file.Files/createTempDirectory "store" (make-array java.nio.file.attribute.FileAttribute 0)))
        test {:name "t", :start-time "now", :base base}
        _    (check :list-append {} test skew {:subdirectory ["independent" 3]})
        dir  (io/file base "t" "now" "independent" "3" "histcheck")]
    (is (seq (.listFiles dir)))))

(deftest failures
  (testing "no history"
    (let [result (check :list-append {} {} (repeat 2 (first skew)) {})]
      (is (= :unknown (:valid? result)))
      (is (re-find #"in flight" (:error result)))))
  (testing "no such checker"
    (is (re-find #"exit code 254" (:error (check :no-such {} {} skew {})))))
  (testing "no such program"
    (let [result (checker/check (histcheck/checker :bank {:command "./no-such-program"}) {} skew {})]
      (is (= :unknown (:valid? result)))
      (is (re-find #"cannot run histcheck" (:error result))))))

(deftest values
  (let [value-read (fn [initial value]
                     (:valid? (check :register {:initial initial} {} [(op 0 :invoke :read nil) (op 0 :ok :read value)] {})))]
    (doseq [value [false true 0 1.5 [1] [1 2] #{1} "1" "a" "a b" "" :a :a/b {:x "a"} {:a/b 1, :a/c 2}]]
      (is (= true (binding [*print-length* 1] (value-read value value))) (pr-str value)))
    (doseq [[initial value] [[[1] 1] ["1" 1] ["a" :a] [:a "a"]]]
      (is (= false (value-read initial value)) (pr-str initial)))))

(deftest exit-codes
  (let [ended (fn [code out]
                (let [program ["sh" "-c" (str "printf '%s' '" out "'; exit " code)]]
                  (checker/check (histcheck/checker :register {:command program}) {} skew {})))]
    (is (= {:valid? true} (ended 0 "{:valid? true}")))
    (is (= {:valid? :unknown, :error "why"} (ended 255 "{:valid? true, :error \"why\"}")))
    (doseq [[code out] [[255 "{:valid? true}"] [3 "{:valid? false}"] [137 "{:valid? tr"] [0 ""]]]
      (let [result (ended code out)]
        (is (= :unknown (:valid? result)))
        (is (re-find (re-pattern (str "exit code " code)) (:error result)))))))

(defn -main [program]
  (reset! command program)
  (let [{:keys [fail error]} (run-tests 'histcheck.checker-test)]
    (System/exit (if (zero? (+ fail error)) 0 1))))
