/// Somebody who takes turns with others.
protocol TurnTaker: AnyObject {
    /// Jobs that it has waiting.
    var count: Int { get }
    /// Whether it is among those whose turn comes.
    var hasTurn: Bool { get set }
}

/// Those whose turn comes, in that order.
struct Turns<Member: TurnTaker> {
    private var members: [Member] = []
    private var first = 0

    /// Whose turn it is.
    var current: Member? { first < members.count ? members[first] : nil }

    /// Puts somebody at the end who is not in it.
    mutating func add(_ member: Member) {
        guard !member.hasTurn else { return }
        member.hasTurn = true
        members.append(member)
    }

    /// The turn has been taken: it passes to the next one. Who has nothing left is out.
    /// - Returns: Whoever is out.
    mutating func pass() -> Member? {
        guard let member = current else { return nil }
        // The only one keeps its place.
        if member.count > 0, first + 1 == members.count { return nil }
        first += 1
        if member.count > 0 { members.append(member) } else { member.hasTurn = false }
        if first == members.count {
            members.removeAll(keepingCapacity: true)
            first = 0
        } else if first > 64, first * 2 > members.count {
            members.removeFirst(first)
            first = 0
        }
        return member.count > 0 ? nil : member
    }
}
