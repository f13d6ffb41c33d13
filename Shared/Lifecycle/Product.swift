/// What this build is.
public enum Product {
    /// The version of the release.
    public static let version = "0.1.0"
}
