/// Why a registration is not taken; its description is the answer that an SDK can show.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parameters cannot be read.
    case form(FormError)
    /// A parameter that every registration has is missing or empty; its name.
    case missing(String)
    /// The push token can be none of the platform.
    case token(Platform)
    /// `additionalParams` is no document of an SDK.
    case additionalParameters(AdditionalParametersError)
    /// A value is longer than the database can find again; its name and the most bytes it may have.
    case tooLong(String, limit: Int)

    /// What is wrong and what it should be, without any value.
    public var description: String {
        switch self {
        case .form(let error): error.description
        case .missing(let name): "Parameter \(name) is missing."
        case .token(let platform): "registrationToken is not \(PushTokenForm.words(platform))."
        case .additionalParameters(let error): error.description
        case .tooLong(let name, let limit): "Parameter \(name) is longer than \(limit) bytes."
        }
    }
}
