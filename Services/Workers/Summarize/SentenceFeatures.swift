internal import Text

/// What speaks for a sentence, each between 0 and 1 or near it. The sum, weighted, is its score.
struct SentenceFeatures {
    /// Frequent terms of the document in it, for its length.
    var frequency = 0.0
    /// How much it is like the document as a whole.
    var centrality = 0.0
    /// How much other sentences are like it (the graph).
    var agreement = 0.0
    /// Near the start.
    var lead = 0.0
    /// Near the end.
    var close = 0.0
    /// First of its paragraph.
    var opening = 0.0
    /// Words of headings.
    var heading = 0.0
    /// Figures.
    var figures = 0.0
    /// Names.
    var names = 0.0
    /// Announces a result, an aim, a conclusion.
    var cue = 0.0
    /// Long enough to say something.
    var length = 0.0
    /// How far it is from as long as a sentence gets.
    var fullness = 0.0
    /// Hangs on what was said before: "However, it ...".
    var dangling = 0.0
    /// A question, or an aside.
    var aside = 0.0
}
