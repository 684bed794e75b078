"""HTTP/1.1 on sockets of our own, so that each write has its true time and a fault can break any byte."""
