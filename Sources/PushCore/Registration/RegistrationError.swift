/// Why a registration is refused. Its description is the answer, which an SDK can show.
package enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parameters cannot be read.
    case form(FormError)
    /// A required parameter, named here, is missing or empty.
    case missing(String)
    /// The push token cannot be one of the platform.
    case token(Platform)
    /// `additionalParams` is not a document that an SDK writes.
    case additionalParameters(AdditionalParametersError)
    /// `optOut` is neither true nor false.
    case optOut
    /// The value of a parameter is too long for the database's index. The values are its name and the maximum length in
    /// bytes.
    case tooLong(String, limit: Int)

    /// What is wrong and what is expected; it never contains a parameter's value.
    package var description: String {
        switch self {
        case .form(let error): error.description
        case .missing(let name): "Parameter \(name) is missing."
        case .token(let platform): "registrationToken is not \(PushTokenForm.words(platform))."
        case .additionalParameters(let error): error.description
        case .optOut: "Parameter optOut must be true or false."
        case .tooLong(let name, let limit): "Parameter \(name) is longer than \(limit) bytes."
        }
    }
}
