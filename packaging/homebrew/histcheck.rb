# A Homebrew formula that builds histcheck from a clone. It is in no tap. With a tap of your own:
#   brew tap-new local/histcheck
#   cp packaging/homebrew/histcheck.rb "$(brew --repository local/histcheck)/Formula/"
#   HOMEBREW_HISTCHECK_CLONE=$PWD brew install --HEAD local/histcheck/histcheck
class Histcheck < Formula
  desc "Check which consistency guarantees a recorded history satisfies"
  homepage "file://#{ENV.fetch("HOMEBREW_HISTCHECK_CLONE", "/")}"
  license any_of: ["MIT", "Apache-2.0"]
  head ENV.fetch("HOMEBREW_HISTCHECK_CLONE", "/"), using: :git, branch: "main"

  depends_on "rust" => :build

  def install
    ENV["HISTCHECK_RELEASE"] = "1"
    system "cargo", "install", *std_cargo_args(path: "cli")
    system "scripts/pages", bin/"histcheck", "pages"
    man1.install Dir["pages/man/*.1"]
    bash_completion.install "pages/completions/histcheck.bash" => "histcheck"
    zsh_completion.install "pages/completions/histcheck.zsh" => "_histcheck"
    fish_completion.install "pages/completions/histcheck.fish"
  end

  test do
    (testpath/"history.edn").write <<~EDN
      {:process 0, :type :invoke, :f :write, :value 1}
      {:process 0, :type :ok, :f :write, :value 1}
      {:process 0, :type :invoke, :f :read}
      {:process 0, :type :ok, :f :read, :value 2}
    EDN
    assert_equal "history.edn\tfalse\n", shell_output("#{bin}/histcheck -m register history.edn", 1)
  end
end
