// The implementation files of Asio and Beast, compiled once for the whole project.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>

// One assertion of Beast's parser is wrong: of a body without chunks, "0\r\n\r" may come alone.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/src.hpp>
