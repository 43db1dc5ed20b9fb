import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import PushCore

/// `GET /r/test`: the request with which Adobe's monitoring checks a tracking server.
struct TestEndpoint: Sendable {
    let hostName: String
    let build: String
    let showsSourceIP: Bool

    /// `<redir status='OK' date='…' build='…' host='…' localHost='…'/>`.
    func answer(_ request: Request, _ exchange: WebExchange) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        let host = (request.head.authority ?? "").prefix { $0 != ":" }
        var text =
            "<redir status='OK' date='\(Self.date())' build='\(Self.escaped(build))' host='\(Self.escaped(String(host)))'"
        text += " localHost='\(Self.escaped(hostName))'"
        if showsSourceIP, let client = exchange.client { text += " sourceIP='\(client)'" }
        var answer = WebAnswer(.ok, text + "/>")
        answer.contentType = "text/xml; charset=utf-8"
        return answer
    }

    private static func date() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS'Z'"
        return formatter.string(from: Date())
    }

    /// Escapes XML: the client chooses the host, which must not be read as markup.
    private static func escaped(_ text: String) -> String {
        var output = ""
        for character in text.unicodeScalars.prefix(255) {
            switch character {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "'": output += "&#39;"
            case "\"": output += "&quot;"
            case "\u{20}"..."\u{7E}", "\u{A0}"...: output.unicodeScalars.append(character)
            default: output += "?"
            }
        }
        return output
    }
}
