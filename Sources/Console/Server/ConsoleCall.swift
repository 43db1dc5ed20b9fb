import PushCore
import Store

/// A request to a route, with its user.
struct ConsoleCall: Sendable {
    /// The parameters in the path, by name.
    let parameters: [String: String]
    /// The query of the path.
    let query: FormParameters
    /// The fields of a form; empty for anything but a POST.
    let form: FormParameters
    /// The signed-in user's session; nil for routes that are open to everyone.
    let session: ConsoleSession?
    /// The session as the database identifies it.
    let actor: ConsoleActor
    let cookies: ConsoleCookies
    /// The path itself, for links back to it.
    let path: String
    /// Closes the connection of a reader that takes nothing.
    let hangUp: @Sendable () -> Void

    /// A number in the path. Anything else is a page that does not exist.
    func number(_ name: String) throws(ConsoleProblem) -> Int64 {
        guard let number = parameters[name].flatMap({ Int64($0) }) else { throw .notFound }
        return number
    }

    /// The id of an application or an external account in the path.
    func smallID() throws(ConsoleProblem) -> Int32 {
        guard let number = Int32(exactly: try number("id")) else { throw .notFound }
        return number
    }
}
