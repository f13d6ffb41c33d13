/// A number or a meaning, with the place that it came from: what an expression is made of before it is ordered.
struct Item {
    enum Content {
        case number(Rational)
        case meaning(Meaning)
    }

    var content: Content
    var text: String
    var position: Int
    /// Whether it was written as a sign, not as a word: `-` before a number is a sign of that number, "minus" at the
    /// start goes on from the answer before.
    var isSign = false

    init(_ content: Content, _ text: String, at position: Int, isSign: Bool = false) {
        self.content = content
        self.text = text
        self.position = position
        self.isSign = isSign
    }

    /// Another meaning in the same place.
    func with(_ meaning: Meaning, _ text: String? = nil) -> Item {
        Item(.meaning(meaning), text ?? self.text, at: position)
    }

    var meaning: Meaning? { if case .meaning(let meaning) = content { meaning } else { nil } }
    var number: Rational? { if case .number(let value) = content { value } else { nil } }
    var binary: BinaryOperator? { if case .binary(let operation)? = meaning { operation } else { nil } }
    var postfix: PostfixOperator? { if case .postfix(let operation)? = meaning { operation } else { nil } }
    var function: Function? { if case .function(let function)? = meaning { function } else { nil } }
    var functionAfter: Function? { if case .functionAfter(let function)? = meaning { function } else { nil } }
    var isOpen: Bool { if case .open? = meaning { true } else { false } }
    var isClose: Bool { if case .close? = meaning { true } else { false } }
    var isComma: Bool { if case .comma? = meaning { true } else { false } }
    var isAnd: Bool { if case .and? = meaning { true } else { false } }
    var isEquals: Bool { if case .equals? = meaning { true } else { false } }
    var isVariable: Bool { if case .variable? = meaning { true } else { false } }
    var isPowerEnd: Bool { if case .powerEnd? = meaning { true } else { false } }
    var isNegative: Bool { if case .negative? = meaning { true } else { false } }
    var isOf: Bool { if case .of? = meaning { true } else { false } }

    /// Whether an operand can begin here.
    var startsOperand: Bool {
        switch content {
        case .number: true
        case .meaning(.constant), .meaning(.open), .meaning(.function), .meaning(.variable), .meaning(.negative): true
        default: false
        }
    }

    /// Whether an operand can end here.
    var endsOperand: Bool {
        switch content {
        case .number: true
        case .meaning(.constant), .meaning(.close), .meaning(.variable), .meaning(.postfix), .meaning(.functionAfter):
            true
        default: false
        }
    }
}
