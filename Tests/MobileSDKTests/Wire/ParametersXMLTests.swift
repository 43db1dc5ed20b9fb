import Foundation
import Testing

@testable import MobileSDK

/// The vectors of Adobe's iOS SDK.
@Suite struct ParametersXMLTests {
    private func encoded(_ parameters: [String: ParameterValue]) -> String {
        PercentEncoding.encode(ParametersXML.document(parameters))
    }

    @Test(arguments: [[:], ["company": nil]] as [[String: ParameterValue]])
    func noParametersAreAnEmptyRoot(_ parameters: [String: ParameterValue]) {
        #expect(encoded(parameters) == "%3CadditionalParams%3E%3C%2FadditionalParams%3E")
    }

    @Test func textAndNumber() {
        #expect(
            encoded(["email": "email@email.com", "userPoints": 3233])
                == "%3CadditionalParams%3E%3Cparam%20name%3D%22email%22%20value%3D%22email%40email.com%22%20%2F%3E%3Cparam%20name%3D%22userPoints%22%20value%3D%223233%22%20%2F%3E%3C%2FadditionalParams%3E"
        )
    }

    @Test func everyEscape() {
        #expect(
            encoded(["greeting": "'h>e&l\"l<o'"])
                == "%3CadditionalParams%3E%3Cparam%20name%3D%22greeting%22%20value%3D%22%26%23x27%3Bh%26gt%3Be%26amp%3Bl%26quot%3Bl%26lt%3Bo%26%23x27%3B%22%20%2F%3E%3C%2FadditionalParams%3E"
        )
    }

    @Test(arguments: [("company", "xxx.corp"), ("isRegistered", "true"), ("serial", "12345")])
    func eachType(_ name: String, _ text: String) {
        let document = encoded(["company": "xxx.corp", "isRegistered": true, "serial": 12345])
        #expect(document.contains("%3Cparam%20name%3D%22\(name)%22%20value%3D%22\(text)%22%20%2F%3E"))
    }

    @Test func numbers() {
        #expect(ParameterValue.float(3.14).text == "3.14")
        #expect((6.75 as ParameterValue).text == "6.75")
        #expect(ParameterValue.integer(.min).text == "-9223372036854775808")
        #expect((false as ParameterValue).text == "false")
    }

    /// What a dictionary of anything may hold, and what is made of it; nil is not sent.
    @Test func anything() {
        let values: [(any: Any, text: String?)] = [
            ("a", "a"), (true, "true"), (false, "false"), (1, "1"), (UInt8(0), "0"),
            (Int64.min, "-9223372036854775808"), (UInt64.max, "18446744073709551615"),
            (3.14 as Float, "3.14"), (6.75, "6.75"), (NSNumber(value: 7), "7"),
            (NSNumber(value: true), "true"), (NSNumber(value: 6.75), "6.75"), (ParameterValue.string("b"), "b"),
            (ParameterValue.absent, nil), (NSNull(), nil), (Date(), nil), (["a"], nil),
        ]
        for (index, value) in values.enumerated() {
            #expect(ParameterValue(any: value.any)?.text == value.text, "\(index)")
        }
        #expect(ParameterValue.values(["a": 1, "b": Date(), "c": "d"]) == ["a": .string("1"), "c": "d"])
        #expect(ParameterValue.values(nil).isEmpty)
    }

    @Test func lineEndsAndWhatXMLCannotSayAreDropped() {
        #expect(ParametersXML.escape("a\r\nb\rc\nd\0\u{1B}\u{FFFF}e\tf😀") == "abcde\tf😀")
    }

    @Test func keysAreSorted() {
        #expect(
            ParametersXML.document(["b": "2", "a": "1", "": ""])
                == #"<additionalParams><param name="" value="" /><param name="a" value="1" /><param name="b" value="2" /></additionalParams>"#
        )
    }
}
