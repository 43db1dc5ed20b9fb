#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Declarations as the database keeps them: a JSON list of objects of each kind.
extension ApplicationDeclarations {
    /// Reads the lists; throws with the list at fault if one is not of the form that this program writes.
    public init(variables: String, sounds: String, parameters: String) throws(DeclarationError) {
        self.init(
            variables: try Self.read(variables, "variables"),
            sounds: try Self.read(sounds, "sounds"),
            parameters: try Self.read(parameters, "subscription parameters")
        )
    }

    private static func read<Element: Decodable>(
        _ json: String,
        _ thing: String
    ) throws(DeclarationError) -> [Element] {
        do {
            return try JSONBody.decode([Element].self, from: json.utf8)
        } catch {
            throw DeclarationError(
                thing,
                "they are stored in a form that this program does not know",
                "declare them anew"
            )
        }
    }

    /// The variables as a JSON list.
    public var variablesJSON: String { Self.write(variables) }
    /// The sounds as a JSON list.
    public var soundsJSON: String { Self.write(sounds) }
    /// The subscription parameters as a JSON list.
    public var parametersJSON: String { Self.write(parameters) }

    /// Texts, booleans and nothing else: encoding cannot fail.
    private static func write(_ elements: [some Encodable]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(elements)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}
