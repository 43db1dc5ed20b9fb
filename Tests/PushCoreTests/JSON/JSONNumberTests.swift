import PushCore
import Testing

@Suite("Whole numbers in JSON")
struct JSONNumberTests {
    @Test(
        arguments: [
            ("5", 5), ("-5", -5), ("0", 0), ("-0", 0), ("5.0", 5), ("-5.000", -5), ("0.5e1", 5), ("5E+0", 5),
            ("50e-1", 5), ("1e2", 100), ("0.0", 0), ("0e99", 0), ("100", 100), ("1.50e1", 15),
            ("9223372036854775807", .max), ("9223372036854775807.0", .max), ("-9223372036854775808", .min),
            ("9007199254740993.0", 9_007_199_254_740_993),
        ] as [(String, Int64)]
    )
    func whole(_ text: String, _ number: Int64) { #expect(JSONNumber.whole(text) == number) }

    @Test(
        arguments: [
            "", "-", "+5", "1.5", "5.000000000000000000001", "5e-1", "9223372036854775808", "1e19",
            "1e99999999999999999999", "5.", ".5", "5.0.0", "0x10", "5e", "1e1.0", " 5", "five", "nan",
        ]
    )
    func others(_ text: String) { #expect(JSONNumber.whole(text) == nil) }
}
