/// A unit of measure: how many base units it is, and of what.
struct Unit: Sendable {
    /// Powers of length, mass, time, temperature, data.
    var dimension: [Int]
    var factor: Rational
    /// Added after scaling: of temperatures only.
    var offset: Rational?
    var symbol: String

    static func * (a: Unit, b: Unit) -> Unit {
        Unit(
            dimension: zip(a.dimension, b.dimension).map { $0 + $1 },
            factor: a.factor * b.factor,
            offset: nil,
            symbol: "\(a.symbol)·\(b.symbol)"
        )
    }

    static func / (a: Unit, b: Unit) -> Unit {
        Unit(
            dimension: zip(a.dimension, b.dimension).map { $0 - $1 },
            factor: a.factor / b.factor,
            offset: nil,
            symbol: "\(a.symbol)/\(b.symbol)"
        )
    }

    func power(_ exponent: Int) -> Unit {
        let signs: [Character] = ["⁰", "¹", "²", "³"]
        let sign = signs.indices.contains(exponent) ? String(signs[exponent]) : "^\(exponent)"
        return Unit(
            dimension: dimension.map { $0 * exponent },
            factor: factor.power(exponent),
            offset: nil,
            symbol: exponent == 1 ? symbol : symbol + sign
        )
    }
}

/// The units that are known, by symbol and by name.
enum Units {
    private static let length = [1, 0, 0, 0, 0]
    private static let mass = [0, 1, 0, 0, 0]
    private static let time = [0, 0, 1, 0, 0]
    private static let temperature = [0, 0, 0, 1, 0]
    private static let data = [0, 0, 0, 0, 1]
    private static let area = [2, 0, 0, 0, 0]
    private static let volume = [3, 0, 0, 0, 0]
    private static let speed = [1, 0, -1, 0, 0]
    private static let force = [1, 1, -2, 0, 0]
    private static let energy = [2, 1, -2, 0, 0]
    private static let power = [2, 1, -3, 0, 0]
    private static let pressure = [-1, 1, -2, 0, 0]
    private static let frequency = [0, 0, -1, 0, 0]

    private typealias Row = (dimension: [Int], factor: String, symbol: String, names: String)

    /// Names are compared without regard to case unless the symbol itself matches exactly.
    private static let rows: [Row] = [
        (length, "1", "m", "metre|metres|meter|meters|米|公尺"), (length, "1000", "km", "公里|千米"),
        (length, "0.01", "cm", "厘米|公分"), (length, "0.1", "dm", "分米"), (length, "0.001", "mm", "毫米"),
        (length, "0.000001", "µm", "um|micron|microns|微米"), (length, "1e-9", "nm", "纳米"),
        (length, "0.0254", "in", "inch|inches|英寸|吋"), (length, "0.3048", "ft", "foot|feet|英尺|呎"),
        (length, "0.9144", "yd", "yard|yards|码"), (length, "1609.344", "mi", "mile|miles|英里|哩"),
        (length, "1852", "nmi", "nautical mile|nautical miles|海里"), (length, "500", "里", "华里"),
        (length, "1/3", "尺", "市尺"), (length, "1/30", "寸", "市寸"), (length, "10/3", "丈", ""),
        (length, "149597870700", "au", "astronomical unit|astronomical units|天文单位"),
        (length, "9460730472580800", "ly", "light year|light years|light-year|light-years|lightyear|lightyears|光年"),
        (mass, "0.001", "g", "gram|grams|gramme|grammes|克"), (mass, "1", "kg", "kilo|kilos|千克|公斤"),
        (mass, "0.000001", "mg", "毫克"), (mass, "1000", "t", "tonne|tonnes|metric ton|metric tons|ton|tons|吨"),
        (mass, "0.45359237", "lb", "lbs|pound|pounds|磅"), (mass, "0.028349523125", "oz", "ounce|ounces|盎司"),
        (mass, "6.35029318", "st", "stone|stones"), (mass, "0.5", "斤", "市斤"), (mass, "0.05", "两", "市两"),
        (time, "1", "s", "sec|secs|second|seconds|秒|秒钟"), (time, "0.001", "ms", "毫秒"),
        (time, "0.000001", "µs", "us|微秒"),
        (time, "60", "min", "mins|minute|minutes|分钟|分"), (time, "3600", "h", "hr|hrs|hour|hours|小时|钟头|时"),
        (time, "86400", "d", "day|days|天|日"), (time, "604800", "wk", "week|weeks|周|星期|礼拜"),
        (time, "31536000", "yr", "year|years|年"),
        (area, "10000", "ha", "hectare|hectares|公顷"), (area, "4046.8564224", "acre", "acres|英亩"),
        (area, "2000/3", "亩", "mu"),
        (volume, "0.001", "L", "l|litre|litres|liter|liters|升|公升"), (volume, "0.000001", "mL", "ml|毫升|cc"),
        (volume, "0.003785411784", "gal", "gallon|gallons|us gallon|us gallons|加仑"),
        (volume, "0.00454609", "imp gal", "imperial gallon|imperial gallons"),
        (volume, "0.000946352946", "qt", "quart|quarts"), (volume, "0.000473176473", "pt", "pint|pints|品脱"),
        (volume, "0.0002365882365", "cup", "cups"), (volume, "0.0000295735295625", "fl oz", "fluid ounce|fluid ounces"),
        (volume, "0.00001478676478125", "tbsp", "tablespoon|tablespoons"),
        (volume, "0.00000492892159375", "tsp", "teaspoon|teaspoons"),
        (speed, "0.44704", "mph", ""), (speed, "1852/3600", "kn", "kt|knot|knots|节"),
        (speed, "1/3.6", "km/h", "kph|kmh"),
        (force, "1", "N", "newton|newtons|牛顿|牛"), (force, "4.4482216152605", "lbf", ""),
        (energy, "1", "J", "joule|joules|焦耳|焦"), (energy, "4.184", "cal", "calorie|calories|卡路里|卡"),
        (energy, "4184", "kcal", "千卡|大卡"), (energy, "3600", "Wh", "watt hour|watt hours|瓦时"),
        (energy, "3600000", "kWh", "千瓦时"), (energy, "1055.05585262", "BTU", ""),
        (energy, "1.602176634e-19", "eV", "electronvolt|electronvolts|电子伏特"),
        (power, "1", "W", "watt|watts|瓦特|瓦"), (power, "745.69987158227022", "hp", "horsepower|英制马力"),
        (power, "735.49875", "PS", "马力"),
        (pressure, "1", "Pa", "pascal|pascals|帕斯卡|帕"), (pressure, "100000", "bar", "bars|巴"),
        (pressure, "101325", "atm", "atmosphere|atmospheres|大气压"), (pressure, "6894.757293168", "psi", ""),
        (pressure, "133.322387415", "mmHg", "毫米汞柱"),
        (frequency, "1", "Hz", "hertz|赫兹|赫"), (frequency, "1/60", "rpm", ""),
        (data, "1", "bit", "bits|比特"), (data, "8", "B", "byte|bytes|字节"),
    ]

    /// Units that take prefixes, with their full name.
    private static let prefixed: [(symbol: String, name: String)] = [
        ("m", "metre"), ("m", "meter"), ("g", "gram"), ("g", "gramme"), ("s", "second"), ("L", "litre"), ("L", "liter"),
        ("N", "newton"), ("J", "joule"), ("W", "watt"), ("Pa", "pascal"), ("Hz", "hertz"), ("B", "byte"),
        ("bit", "bit"),
        ("Wh", "watt hour"), ("eV", "electronvolt"), ("b", "bit"), ("bps", "bit"),
    ]

    private static let prefixes: [(symbol: String, name: String, exponent: Int)] = [
        ("T", "tera", 12), ("G", "giga", 9), ("M", "mega", 6), ("k", "kilo", 3), ("h", "hecto", 2), ("d", "deci", -1),
        ("c", "centi", -2), ("m", "milli", -3), ("µ", "micro", -6), ("u", "micro", -6), ("n", "nano", -9),
        ("p", "pico", -12),
        ("P", "peta", 15), ("E", "exa", 18), ("K", "kilo", 3),
    ]
    private static let binaryPrefixes: [(symbol: String, name: String, exponent: Int)] = [
        ("Ki", "kibi", 10), ("Mi", "mebi", 20), ("Gi", "gibi", 30), ("Ti", "tebi", 40), ("Pi", "pebi", 50),
    ]
    private static let chineseData: [(String, Int)] = [("千字节", 3), ("兆字节", 6), ("兆", 6), ("吉字节", 9), ("太字节", 12)]

    private static let table: (exact: [String: Unit], folded: [String: Unit]) = {
        var exact: [String: Unit] = [:]
        var folded: [String: Unit] = [:]
        func add(_ unit: Unit, _ names: some Sequence<String>) {
            exact[unit.symbol] = exact[unit.symbol] ?? unit
            for name in names {
                folded[name] = folded[name] ?? unit
                exact[name] = exact[name] ?? unit
            }
            let lower = unit.symbol.lowercased()
            folded[lower] = folded[lower] ?? unit
        }
        for row in rows {
            let unit = Unit(dimension: row.dimension, factor: constant(row.factor), offset: nil, symbol: row.symbol)
            add(unit, row.names.split(separator: "|").map(String.init))
        }
        for (symbol, factor, offset, names) in [
            ("°C", "1", "273.15", "°c|celsius|centigrade|degrees celsius|degree celsius|degrees centigrade|摄氏度|摄氏"),
            ("°F", "5/9", "229835/900", "°f|fahrenheit|degrees fahrenheit|degree fahrenheit|华氏度|华氏"),
            ("K", "1", "0", "kelvin|kelvins|°k|开尔文|开"),
        ] {
            var unit = Unit(dimension: temperature, factor: constant(factor), offset: constant(offset), symbol: symbol)
            add(unit, names.split(separator: "|").map(String.init))
            // A bare letter: "72 F to C".
            unit.symbol = symbol
            let letter = String(symbol.suffix(1))
            exact[letter] = exact[letter] ?? unit
            folded[letter.lowercased()] = folded[letter.lowercased()] ?? unit
        }
        for (symbol, name) in prefixed {
            let base = exact[symbol == "b" || symbol == "bps" ? "bit" : symbol]
            guard let base else { continue }
            let decimal = prefixes.map { ($0.symbol, $0.name, Rational(10).power($0.exponent)) }
            let binary = binaryPrefixes.map { ($0.symbol, $0.name, Rational(2).power($0.exponent)) }
            for (prefix, prefixName, factor) in decimal + (base.dimension == data ? binary : []) {
                let shown = prefix == "u" ? "µ" : prefix == "K" ? "k" : prefix
                let unit = Unit(
                    dimension: base.dimension,
                    factor: base.factor * factor,
                    offset: nil,
                    symbol: shown + (symbol == "bps" ? "bit" : symbol)
                )
                let key = prefix + symbol
                exact[key] = exact[key] ?? unit
                if prefixName != "peta", prefixName != "exa" || symbol == "B" {
                    // Lower-case data sizes are bytes: 5 gb is 5 GB.
                    if symbol != "b" { folded[key.lowercased()] = folded[key.lowercased()] ?? unit }
                }
                for plural in [prefixName + name, prefixName + name + "s"] { folded[plural] = folded[plural] ?? unit }
            }
        }
        if let byte = exact["B"] {
            for (name, exponent) in chineseData {
                let factor = byte.factor * Rational(10).power(exponent)
                folded[name] = Unit(dimension: data, factor: factor, offset: nil, symbol: name)
            }
        }
        return (exact, folded)
    }()

    /// `1852/3600`, `0.0254`, `1e-9`
    private static func constant(_ text: String) -> Rational {
        func decimal(_ text: Substring) -> Rational {
            let parts = text.split(separator: "e")
            let mantissa = parts.first.map(String.init) ?? "0"
            let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            let places = mantissa.split(separator: ".").dropFirst().first?.count ?? 0
            return Rational(digits: mantissa.filter { $0 != "." }, exponent: exponent - places)
        }
        let parts = text.split(separator: "/")
        let top = decimal(parts.first ?? "0")
        return parts.count > 1 ? top / decimal(parts[1]) : top
    }

    private static func named(_ tokens: ArraySlice<Token>) -> Unit? {
        let separator = tokens.first?.isHan == true ? "" : " "
        let original = tokens.map(\.original).joined(separator: separator)
        let folded = tokens.map(\.text).joined(separator: separator)
        return table.exact[original] ?? table.folded[folded]
    }

    /// The unit that all these tokens spell together: `km/h`, "square feet", 平方米, `kg m^-3`.
    static func parse(_ tokens: ArraySlice<Token>) -> Unit? {
        guard !tokens.isEmpty, tokens.count <= 12 else { return nil }
        var result: Unit?
        var index = tokens.startIndex
        var divides = false
        while index < tokens.endIndex {
            if result != nil {
                let token = tokens[index]
                if token.isSign("/") || token.text == "per" || token.text == "每" {
                    divides = true
                    index += 1
                } else if token.isSign("*") {
                    divides = false
                    index += 1
                } else {
                    return nil
                }
            }
            guard let (unit, next) = factor(tokens, index) else { return nil }
            result = result.map { divides ? $0 / unit : $0 * unit } ?? unit
            index = next
        }
        return result
    }

    private static let squares = [["square"], ["sq"], ["平", "方"]]
    private static let cubes = [["cubic"], ["cu"], ["立", "方"]]

    private static func factor(_ tokens: ArraySlice<Token>, _ start: Int) -> (Unit, Int)? {
        var index = start
        var exponent = 1
        for (words, power) in squares.map({ ($0, 2) }) + cubes.map({ ($0, 3) }) {
            guard index + words.count < tokens.endIndex else { continue }
            if words.indices.allSatisfy({ tokens[index + $0].text == words[$0] }) {
                exponent = power
                index += words.count
                break
            }
        }
        var end = index
        while end < tokens.endIndex, tokens[end].isWord, end - index < 5 { end += 1 }
        while end > index {
            if var unit = named(tokens[index..<end]) {
                if end + 1 < tokens.endIndex, tokens[end].isSign("^"), let power = tokens[end + 1].number?.int,
                    1...9 ~= power
                {
                    exponent *= power
                    end += 2
                }
                if exponent != 1 { unit = unit.power(exponent) }
                return (unit, end)
            }
            // m2, cm3
            if end == index + 1, let last = tokens[index].text.last, last == "2" || last == "3" {
                var token = tokens[index]
                token.text.removeLast()
                token.original.removeLast()
                if let unit = named([token]) { return (unit.power(last == "2" ? 2 : 3), end) }
            }
            end -= 1
        }
        return nil
    }
}
