/// Who chooses the skill of a request that names none.
public enum Routing: String, Codable, Sendable, CaseIterable {
    /// The router, by what skills say of themselves.
    case local
    /// A model, within two seconds; the router where that does not choose.
    case model

    /// The number that stands for it in a job body.
    var number: UInt8 { self == .model ? 1 : 0 }

    /// What a number in a job body stands for; the router for one that is not known.
    init(number: UInt8) { self = number == 1 ? .model : .local }
}
