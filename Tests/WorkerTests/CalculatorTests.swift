import SkillKit
import SkillKitTesting
import Testing
import Wire

@testable import CalculatorWorker

@Suite struct CalculatorTests {
    private func value(_ text: String, _ rounding: Rounding? = nil) throws -> String {
        try Calculation.answer(text, rounding: rounding).number.text
    }

    private func failure(_ text: String) -> ExpressionError? {
        do {
            _ = try Calculation.answer(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("0.1 + 0.2", "0.3"), ("what is 0.1 + 0.2, to 30 places", "0.3"), ("1.1 + 0.05 - 0.05", "1.1"),
        ("1/3 + 1/6", "0.5"),
        ("2/3*3", "2"), ("1e309*10", "1" + String(repeating: "0", count: 310)),
        ("12345678901234567890 * 98765432109876543210", "1219326311370217952237463801111263526900"),
        ("20!", "2432902008176640000"), ("31^78 mod 1000", "41"), ("10 choose 3", "120"), ("(1/3)^-2", "9"),
    ])
    func exactArithmetic(_ text: String, _ expected: String) throws {
        let answer = try Calculation.answer(text)
        #expect(answer.number == DecimalText(text: expected, isExact: true))
    }

    @Test(arguments: [
        ("-2^2", "-4"), ("2^-3", "0.125"), ("2^3^2", "512"), ("2**3**2", "512"), ("2*-7", "-14"), ("3-(-3)", "6"),
        ("-7 mod 3", "2"),
        ("-31 mod -7", "-3"), ("6-2-2", "2"), ("-3!", "-6"), ("2^3!", "64"), ("8!!", "384"), ("2(3+4)", "14"),
        ("(1+2)(3+4)", "21"),
        ("9*(3+2)", "45"), ("--5", "5"), ("sqrt(16)^2", "16"), ("√9 + ∛27", "6"), ("17 % 5", "2"), ("mod(17, 5)", "2"),
    ])
    func precedence(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("15% of 80", "12"), ("10% of 250", "25"), ("250 + 10%", "275"), ("85 - 15%", "72.25"),
        ("113 * 12.5%", "14.125"),
        ("100 + 5% + 5%", "110.25"), ("20% off 80", "64"), ("50% + 25%", "0.75"), ("15%的2400是多少", "360"),
        ("计算300的15%", "45"),
        ("百分之十五乘以八十", "12"), ("399打八五折", "339.15"),
    ])
    func percentages(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("１２＋３４", "46"), ("（２５＋４３）×５", "340"), ("12×7÷2−1", "41"), ("47 · 85", "3995"), ("1,234.5 + 1", "1235.5"),
        ("$3,985,490 / 4", "996372.5"), ("2910 585 + 583", "2911168"), ("3²+4²", "25"), ("½ + ¼", "0.75"),
        ("0xff + 0b101", "260"),
        ("max(1,234)", "234"),
    ])
    func spellings(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("twenty-five times four", "100"), ("three plus four", "7"), ("square root of 81", "9"),
        ("2 to the power of 10", "1024"),
        ("2 to the 10th power", "1024"), ("what is 25 times 4?", "100"),
        ("could you work out 45 divided by 9 for me please", "5"),
        ("half of 9", "4.5"), ("three quarters of 80", "60"),
        ("five hundred and twenty three plus one thousand two hundred", "1723"),
        ("subtract 3 from 10", "7"), ("divide 10 by 4", "2.5"), ("the average of 4, 8, 15, 16, 23 and 42", "18"),
        ("gcd of 12 and 18", "6"),
        ("log base 2 of 4096", "12"), ("5 squared plus 2 cubed", "33"), ("remainder of 17 divided by 5", "2"),
        ("negative five times three", "-15"),
        ("calcualte 19 pluss 23", "42"), ("don't explain the formula, just compute 7!", "5040"),
        ("solve 5x - 3 = 22", "5"),
        ("how much is a 20% tip on $64.50", "12.9"), ("sqrt(2) to five decimal places", "1.41421"),
        ("2/3 to 3 significant digits", "0.667"),
    ])
    func englishWords(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("三加四乘以二", "11"), ("25乘以4等于多少", "100"), ("三分之一加三分之二", "1"), ("根号81", "9"), ("根号下(3+6)", "3"),
        ("2的10次方", "1024"),
        ("10的负2次方", "0.01"), ("256开平方", "16"), ("8的立方根", "2"), ("10的阶乘", "3628800"), ("以2为底8的对数", "3"),
        ("从1加到100", "5050"),
        ("一百二十三加一", "124"), ("一千零五除以五", "201"), ("三万五加两千零五", "37005"), ("一百二十万乘以三", "3600000"), ("三点一四乘以二", "6.28"),
        ("4、8、15的平均数", "9"), ("12和18的最小公倍数", "36"), ("5和7的差", "-2"), ("17除以5的余数", "2"), ("sin30度的值", "0.5"),
        ("解方程 2x+7=19", "6"), ("求 x：2x+7=19", "6"), ("不用解释，直接给我 36×25 的结果", "900"), ("10/3 保留两位小数", "3.33"),
        ("2/3 精确到0.01", "0.67"), ("圆周率保留10位小数", "3.1415926536"), ("半径为2的圆面积 = pi*2^2, 6 digits", "12.5664"),
    ])
    func chineseWords(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("10 miles to km", "16.09344", "km"), ("把100英里换算成公里", "160.9344", "km"), ("20 °C to °F", "68", "°F"),
        ("37摄氏度是多少华氏度", "98.6", "°F"), ("317 acre to m^2", "1282853.4859008", "m²"),
        ("432 km/h to m/s", "120", "m/s"),
        ("149 MiB to byte", "156237824", "B"), ("how many seconds are in 3.5 hours", "12600", "s"),
        ("1.5 GB 等于多少 MB", "1500", "MB"),
        ("5斤等于多少克", "2500", "g"), ("2磅等于多少千克", "0.90718474", "kg"), ("100 square feet to m2", "9.290304", "m²"),
        ("(3 + 4) * 2 h to min", "840", "min"),
    ])
    func units(_ text: String, _ expected: String, _ unit: String) throws {
        let answer = try Calculation.answer(text)
        #expect(answer.number.text == expected)
        #expect(answer.unit == unit)
    }

    @Test func digitsOnDemand() throws {
        #expect(
            try value("sqrt(2)", .significant(39, strict: false)) == "1.41421356237309504880168872420969807857"
        )
        #expect(try value("1/3", .significant(50, strict: false)) == "0." + String(repeating: "3", count: 50))
        #expect(try value("1/8", .places(2)) == "0.13")
        #expect(try value("sin(pi)") == "0")
        // Near where there is none, but not there.
        #expect(try value("tan(89.999999 degrees)").hasPrefix("57295779.5"))
        #expect(try value("tan(1.5707963267948966)").filter(\.isNumber).hasPrefix("5199"))
        #expect(try value("tan(45°)") == "1")
        #expect(try value("exp(50) - exp(50)") == "0")
        // ...3421170679 82148...
        #expect(try value("pi to 100 digits").hasSuffix("342117068"))
        #expect(try value("pi to 102 digits").hasSuffix("34211706798"))
    }

    @Test(arguments: [
        ("1/0", "division_by_zero"), ("5 mod 0", "division_by_zero"), ("0^-1", "division_by_zero"),
        ("9^9^9^9", "too_large"),
        ("999999!", "too_large"), ("(10^6)!", "too_large"), ("100000000!", "too_large"), ("2^1000000000", "too_large"),
        ("exp(10^20)", "too_large"), ("1e99999999", "invalid_number"), ("log(-1)", "undefined"),
        ("sqrt(-4)", "undefined"), ("ln(0)", "undefined"),
        ("(-1)!", "undefined"), ("2.5!", "undefined"), ("asin(2)", "undefined"), ("tan(90 degrees)", "undefined"),
        ("tan(-90°)", "undefined"),
        ("tan(pi/2)", "undefined"), ("tan(450°)", "undefined"), ("tan(45° + 45°)", "undefined"),
        ("tan(1000000 * 180° + 90°)", "undefined"), ("((1+2)", "unbalanced_parenthesis"),
        ("1+2)", "unbalanced_parenthesis"), ("3 + * 4", "invalid_expression"), ("3 +", "invalid_expression"),
        ("3 4", "invalid_expression"),
        ("1.2.3 + 1", "invalid_number"), ("3,5 + 1", "invalid_number"), ("", "no_expression"), ("   ", "no_expression"),
        ("command(\"id\")", "unknown_word"), ("load(\"/etc/passwd\")", "unknown_word"),
        ("3 + 4 zorkles", "unknown_word"),
        ("10 miles to zorks", "unknown_unit"), ("10 km to kg", "units_differ"), ("x + 1 = x", "unsolvable"),
        ("x*x = 4", "unsolvable"),
        ("pi to 1000000 digits", "too_large"),
    ])
    func errors(_ text: String, _ code: String) { #expect(failure(text)?.code == code) }

    @Test func errorsNameTheirPlace() {
        let error = failure("3 + 4 zorkles")
        #expect(error?.reason == .unknownWord("zorkles"))
        #expect(error?.position == 7)
        #expect(failure("9^9^9^9")?.message(chinese: false).contains("1,000,000 digits") == true)
        #expect(failure("三加四苹果")?.message(chinese: true).contains("苹果") == true)
    }

    /// Whatever is asked, it ends in about a second, and in little memory: a test process that runs out would be killed.
    @Test(arguments: [
        String(repeating: "(", count: 5000) + "1" + String(repeating: "+1)", count: 5000),
        String(repeating: "(", count: 50_000), String(repeating: "2^", count: 3000) + "2",
        Array(repeating: "200000!", count: 50).joined(separator: "+"),
        Array(repeating: "(10^1000000", count: 3000).joined(separator: "-"),
        Array(repeating: "sin(3)", count: 500).joined(separator: "+") + " to 10000 digits", "sin(10^1000000)",
        "1" + String(repeating: "/7", count: 20_000), String(repeating: "9", count: 90_000) + "!",
        String(repeating: "1", count: 100_001), "1.0001^1000000", "lcm(10^900000, 10^900000+1)",
    ])
    func everythingEnds(_ text: String) {
        let start = ContinuousClock.now
        _ = failure(text)
        // Twice the bound of the product: a loaded machine may run other tests in between.
        #expect(ContinuousClock.now - start < .seconds(8))
    }

    @Test func deepNestingIsAnswered() throws {
        let text = String(repeating: "(", count: 1000) + "1" + String(repeating: "+1)", count: 1000)
        #expect(try value(text) == "1001")
    }

    @Test func answersThroughTheSkill() async throws {
        let run = await SkillRun(Calculator(), SkillInput(text: "what is 250 + 10%?"))
        let output = try #require(run.output)
        #expect(output.text.split(separator: "\n").first == "275")
        #expect(output.text.contains("percentage"))
        #expect(output.parts.first?.kind == "number")
        #expect(output.parts.first?.text == "275")
        #expect(output.parts.first?.values?["exact"] == .bool(true))

        let rounded = await SkillRun(Calculator(), SkillInput(text: "1/3"), arguments: ["precision": 30])
        #expect(rounded.output?.parts.first?.text == "0." + String(repeating: "3", count: 30))
        #expect(rounded.output?.parts.first?.values?["fraction"] == "1/3")

        let refused = await SkillRun(Calculator(), SkillInput(text: "1"), arguments: ["precision": 0])
        #expect(refused.error?.code == JobError.Code.invalidArguments)

        let failed = await SkillRun(Calculator(), SkillInput(text: "三除以零"))
        #expect(failed.error?.code == "division_by_zero")
        #expect(failed.error?.message.contains("除数为零") == true)
    }

    @Test func goesOnFromTheAnswerBefore() async {
        let history = [
            JobInput.Turn(role: "user", text: "12 * 12", skills: ["calculator"]),
            JobInput.Turn(role: "assistant", text: "144"),
        ]
        for (text, expected) in [
            ("and multiplied by two?", "288"), ("再加上 50", "194"), ("那除以三呢", "48"), ("minus 50 percent", "72"),
        ] {
            let run = await SkillRun(Calculator(), SkillInput(text: text, history: history))
            #expect(run.output?.parts.first?.text == expected, "\(text)")
        }
    }

    @Test func manifestIsValid() throws {
        try Calculator.completeManifest.validate()
        #expect(Calculator.completeManifest.inputSchema["properties"]?["precision"]?["type"] == "integer")
    }
}
