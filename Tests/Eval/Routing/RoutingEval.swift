import Glibc
import Intent
import Wire

/// Measures the routing against public sets of labelled utterances in a folder, beside what others reach on them.
///
/// A set's test part is taken where the folder has one, else its validation part. What is compared with was measured
/// with scikit-learn and MiniLM on the same splits; TF-IDF with a linear support vector machine is what "classical" means.
@main
enum RoutingEval {
    static func main() {
        guard CommandLine.arguments.count == 2 else {
            print("usage: RoutingEval FOLDER, with files such as clinc150.train.tsv and clinc150.val.tsv")
            exit(2)
        }
        var rows = Rows(folder: CommandLine.arguments[1])
        rows.print()
    }
}
